import { describe, expect, it } from 'vitest'
import { parseOptions, resolveFile, terminalLook } from '../../docs/demo/options.js'

describe('parseOptions', () => {
  it('reads nothing as the rules of the demo itself', () => {
    expect(parseOptions([])).toEqual({ help: false, rulesFile: undefined })
  })

  it('reads the file of --rules in both spellings', () => {
    expect(parseOptions(['--rules', 'mine.json'])).toEqual({ help: false, rulesFile: 'mine.json' })
    expect(parseOptions(['--rules=mine.json'])).toEqual({ help: false, rulesFile: 'mine.json' })
  })

  it('reads --help and -h, whatever else is asked', () => {
    expect(parseOptions(['--rules', 'mine.json', '--help'])).toEqual({ help: true })
    expect(parseOptions(['-h'])).toEqual({ help: true })
  })

  it('names an option it does not know, a stray word, and a missing file name', () => {
    expect(parseOptions(['--rule', 'mine.json'])).toEqual({ fault: expect.stringContaining('--rule') })
    expect(parseOptions(['mine.json'])).toEqual({ fault: expect.stringContaining('mine.json') })
    expect(parseOptions(['--rules'])).toEqual({ fault: expect.stringContaining('--rules') })
    expect(parseOptions(['--rules='])).toEqual({ fault: expect.stringContaining('--rules') })
  })
})

describe('resolveFile', () => {
  it('starts from where the user called npm, not from the package', () => {
    const env = { npm_lifecycle_event: 'demo', INIT_CWD: '/home/ann' }
    expect(resolveFile('mine.json', '/repo', env)).toBe('/home/ann/mine.json')
  })

  it('starts from the working directory without npm, and under another script of npm', () => {
    expect(resolveFile('mine.json', '/repo', {})).toBe('/repo/mine.json')
    expect(resolveFile('mine.json', '/repo', { npm_lifecycle_event: 'test', INIT_CWD: '/home/ann' })).toBe(
      '/repo/mine.json',
    )
  })

  it('leaves an absolute path alone', () => {
    expect(resolveFile('/tmp/mine.json', '/repo', { npm_lifecycle_event: 'demo', INIT_CWD: '/home/ann' })).toBe(
      '/tmp/mine.json',
    )
  })
})

describe('terminalLook', () => {
  it('gives bar and colours to a terminal, neither to a pipe', () => {
    expect(terminalLook(true, {})).toEqual({ bar: true, colour: true })
    expect(terminalLook(undefined, {})).toEqual({ bar: false, colour: false })
    expect(terminalLook(false, {})).toEqual({ bar: false, colour: false })
  })

  it('drops the colours under NO_COLOR, unless it is empty', () => {
    expect(terminalLook(true, { NO_COLOR: '1' })).toEqual({ bar: true, colour: false })
    expect(terminalLook(true, { NO_COLOR: '0' })).toEqual({ bar: true, colour: false })
    expect(terminalLook(true, { NO_COLOR: '' })).toEqual({ bar: true, colour: true })
  })

  it('treats a dumb terminal as a pipe', () => {
    expect(terminalLook(true, { TERM: 'dumb' })).toEqual({ bar: false, colour: false })
  })
})
