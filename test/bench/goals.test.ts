import { describe, expect, it } from 'vitest'
import { CASES } from '../../bench/cases.js'
import { GOALS, judgeGoals, type Results } from '../../bench/goals.js'

/** Every case measured, each with the same numbers. */
function all(numbers: Record<string, number>): Results {
  return Object.fromEntries(CASES.map(({ id }) => [id, numbers]))
}

describe('goals', () => {
  it('each read a case that exists', () => {
    const numbers = {
      ratio: 1.5,
      extraBytes: 0,
      overNs: 9,
      unusedBytes: 1,
      activeBytes: 1,
      createOneMicros: 1,
      timers: 0,
      idleCpuShare: 0,
    }
    expect(judgeGoals(all(numbers)).map(({ goal }) => goal)).toEqual(GOALS.map(({ goal }) => goal))
  })

  it('are left out where their case was not measured', () => {
    expect(judgeGoals({})).toEqual([])
  })

  it('are reached at the bound and missed beyond it', () => {
    const judged = (ratio: number) => judgeGoals({ 'async/slow-1': { ratio } })[0]
    expect(judged(3.9)).toMatchObject({ value: 3.9, most: 3.9, reached: true })
    expect(judged(3.91)).toMatchObject({ reached: false })
  })

  it('forgive less than a byte, which is noise of counting, and no whole allocation', () => {
    const judged = (extraBytes: number) => judgeGoals({ 'sync/error-1': { extraBytes } })[0]
    expect(judged(0.5)).toMatchObject({ reached: true })
    expect(judged(16)).toMatchObject({ reached: false })
  })

  it('compare the own cost of three rules with that of one, without the bare call', () => {
    const judged = judgeGoals({ 'sync/slow-1': { ratio: 11 }, 'sync/rules-3': { ratio: 21 } })
    expect(judged).toEqual([expect.objectContaining({ value: 2, reached: false })])
  })
})

describe('cases', () => {
  it('have an id each', () => {
    const ids = CASES.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
