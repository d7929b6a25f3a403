// Which rules a name gets, and what is remembered from one load to the next.
import { describe, expect, it, vi } from 'vitest'
import { RuleLevels } from '../../rules/levels.js'
import { Program } from '../../rules/pattern/program.js'
import { checked, type Fields } from './support.js'

const ratio = { strategy: 'error-ratio', threshold: 0.5 } as const

function levels(...rules: Fields[]): RuleLevels {
  return new RuleLevels().replacedBy(checked(...rules))
}

function idsFor(all: RuleLevels, name: string): string[] {
  return all.rulesFor(name, all.hitsOf(name)).map(({ rule }) => rule.id)
}

const exact = { ...ratio, resource: 'a/b', id: 'exact' }
const glob = { ...ratio, resource: 'a/*', match: 'glob', id: 'glob' } as const
const regex = { ...ratio, resource: 'b$', match: 'regex', id: 'regex' } as const
const rest = { ...ratio, match: 'default', id: 'default' } as const

describe('a name gets', () => {
  it.each([
    [[exact, glob, regex, rest], 'a/b', ['exact']],
    [[rest, regex, glob], 'a/b', ['regex', 'glob']],
    [[rest, regex, glob], 'a/c', ['glob']],
    [[rest, regex, glob], 'x', ['default']],
    [[regex, glob], 'x', []],
    [[exact, rest], 'a/b/c', ['default']],
    [[exact, { ...exact, id: 'second' }, rest], 'a/b', ['exact', 'second']],
  ] as [Fields[], string, string[]][])('of %j, for %s: %j', (rules, name, expected) => {
    expect(idsFor(levels(...rules), name)).toEqual(expected)
  })

  it('only default rules if it stands for others', () => {
    expect(
      levels(exact, glob, rest)
        .rulesForOverflow()
        .map(({ rule }) => rule.id),
    ).toEqual(['default'])
  })
})

describe('all rules are shown', () => {
  const second = { ...exact, id: 'second' }
  const other = { ...exact, resource: 'o', id: 'other' }
  const ids = (all: RuleLevels) => all.all().map(({ rule }) => rule.id)

  it('in the order of loading', () => {
    const order: Fields[] = [rest, exact, regex, other, glob, second]
    expect(ids(levels(...order))).toEqual(['default', 'exact', 'regex', 'other', 'glob', 'second'])
  })

  it('with those that were set for one name where its first rule stood, or at the end', () => {
    const all = levels(rest, exact, regex, other, second)
    all.setExact('a/b', checked({ ...exact, id: 'new' }, { ...exact, id: 'newer' }))
    all.setExact('z', checked({ ...exact, resource: 'z', id: 'z' }))
    expect(ids(all)).toEqual(['default', 'new', 'newer', 'regex', 'other', 'z'])
    all.setExact('a/b', [])
    all.setExact('o', [])
    expect(ids(all)).toEqual(['default', 'regex', 'z'])
    all.setExact('o', checked(other))
    expect(ids(all)).toEqual(['default', 'regex', 'other', 'z'])
    expect(all.rulesFor('a/b', []).map(({ rule }) => rule.id)).toEqual(['default'])
  })
})

describe('the next load', () => {
  it('keeps the objects of rules that did not change, and the pattern of one whose number did', () => {
    const before = levels(exact, glob, rest)
    const after = before.replacedBy(checked(rest, { ...glob, threshold: 0.9 }, exact))
    const [e, g, d] = before.all()
    const [d2, g2, e2] = after.all()
    expect(e2).toBe(e)
    expect(d2).toBe(d)
    expect(g2?.rule.threshold).toBe(0.9)
    expect(g2?.pattern).toBe(g?.pattern)
  })

  it('matches known names against new patterns only, once per pattern', () => {
    const test = vi.spyOn(Program.prototype, 'test')
    try {
      const before = levels(glob, { ...glob, id: 'twice' }, rest)
      const hits = before.hitsOf('a/b')
      expect(test).toHaveBeenCalledTimes(1)
      const same = before.replacedBy(checked(glob, { ...glob, id: 'twice' }, rest))
      expect(same.hitsAfter(before)('a/b', hits)).toBe(hits)
      expect(test).toHaveBeenCalledTimes(1)
      const more = same.replacedBy(checked(glob, regex))
      const both = more.hitsAfter(same)('a/b', hits)
      expect(test).toHaveBeenCalledTimes(2)
      expect(more.rulesFor('a/b', both).map(({ rule }) => rule.id)).toEqual(['glob', 'regex'])
      const less = more.replacedBy(checked(regex))
      expect(less.rulesFor('a/b', less.hitsAfter(more)('a/b', both)).map(({ rule }) => rule.id)).toEqual(['regex'])
      expect(test).toHaveBeenCalledTimes(2)
    } finally {
      test.mockRestore()
    }
  })
})
