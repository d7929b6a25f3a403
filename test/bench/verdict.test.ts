import { describe, expect, it } from 'vitest'
import { judge, judgeBytes, runIsDone } from '../../bench/support/verdict.js'

describe('the guard of the benches', () => {
  it('calls a ratio worse when 2 of 3 runs are more than 15 % above the baseline', () => {
    expect(judge(2, [2.31, 2.31])).toBe('worse')
    expect(judge(2, [2.31, 2, 2.31])).toBe('worse')
  })

  it('forgives one run of three, however slow', () => {
    expect(judge(2, [9, 2, 2])).toBe('same')
    expect(judge(2, [2, 9, 2])).toBe('same')
  })

  it('stays within the bound at exactly 15 %', () => {
    expect(judge(2, [2.3, 2.3])).toBe('same')
  })

  it('asks for a third run only where the first two disagree', () => {
    expect(judge(2, [])).toBe('undecided')
    expect(judge(2, [2])).toBe('undecided')
    expect(judge(2, [2, 2.31])).toBe('undecided')
    expect(judge(2, [2, 2])).toBe('same')
  })

  it('notices that the baseline has become too easy', () => {
    expect(judge(2, [1.7, 1.7])).toBe('better')
    expect(judge(2, [1.7, 1.9])).toBe('same')
  })
})

describe('one run', () => {
  it('takes two processes, and two more only while all are beyond the bound', () => {
    expect(runIsDone(2, [2])).toBe(false)
    expect(runIsDone(2, [3, 2])).toBe(true)
    expect(runIsDone(2, [3, 3])).toBe(false)
    expect(runIsDone(2, [3, 3, 3])).toBe(false)
    expect(runIsDone(2, [3, 3, 3, 3])).toBe(true)
  })
})

describe('bytes per call', () => {
  it('are worse only when every count is beyond the bound', () => {
    expect(judgeBytes(0, [16, 16, 16, 16])).toBe('worse')
    expect(judgeBytes(0, [16, 16, 16])).toBe('undecided')
    expect(judgeBytes(0, [16, 16, 0])).toBe('same')
  })

  it('may differ by a few bytes but not by a boxed number', () => {
    expect(judgeBytes(400, [408])).toBe('same')
    expect(judgeBytes(400, [416, 416, 416, 416])).toBe('worse')
  })

  it('notice that the baseline has become too easy', () => {
    expect(judgeBytes(96, [0])).toBe('undecided')
    expect(judgeBytes(96, [0, 0])).toBe('better')
    expect(judgeBytes(96, [0, 96])).toBe('same')
    expect(judgeBytes(96, [92])).toBe('same')
  })
})
