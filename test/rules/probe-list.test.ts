// The probes that are out: few, found by their number.
import { expect, it } from 'vitest'
import { ProbeList } from '../../rules/probe-list.js'

it('lists probes, knows the oldest, and takes each off once', () => {
  const list = new ProbeList()
  expect([list.size, list.hasAny([1]), list.remove(1)]).toEqual([0, false, false])
  list.add(-5, 100)
  list.add(7, 200)
  list.add(9, 300)
  expect([list.size, list.oldestStart()]).toEqual([3, 100])
  expect([list.hasAny([]), list.hasAny([1, 2]), list.hasAny([1, 7])]).toEqual([false, false, true])
  expect([list.remove(-5), list.remove(-5), list.oldestStart()]).toEqual([true, false, 200])
  expect([list.remove(9), list.size, list.oldestStart()]).toEqual([true, 1, 200])
  list.clear()
  expect([list.size, list.hasAny([7])]).toEqual([0, false])
})
