import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture, type FsFixture } from 'fs-fixture'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRoot } from '../../io/is-root.ts'
import { preflightPlugin } from './preflight-plugin.ts'

let fixture: FsFixture
let top: string

beforeAll(async () => {
  fixture = await createFixture({
    'good/.claude-plugin/plugin.json': '{"name":"good-one"}',
    'good/skills/a/SKILL.md': '',
    'empty/x': '',
    'broken/.claude-plugin/plugin.json': '{"name": "x",\n  "version": }',
    'list/.claude-plugin/plugin.json': '[]',
    'nameless/.claude-plugin/plugin.json': '{"version":"1"}',
    'numbered/.claude-plugin/plugin.json': '{"name":5}',
    'blank/.claude-plugin/plugin.json': '{"name":"  "}',
    'marked/.claude-plugin/plugin.json': '\uFEFF{"name":"marked"}',
    'marked/commands/a.md': '',
    'Odd/.claude-plugin/plugin.json': '{"name":"Odd_Name"}',
    'Odd/agents/a.md': '',
    'hooked/.claude-plugin/plugin.json': '{"name":"hooked"}',
    'hooked/hooks/hooks.json': '{}',
    'directory/.claude-plugin/plugin.json/x': '',
    'elsewhere/plugin.json': '{"name":"elsewhere"}',
    'linked/.claude-plugin/x': '',
    'piped/.claude-plugin/x': '',
    file: '',
    'work/x': '',
  })
  top = realpathSync(fixture.path).replace(/\/$/, '')
  symlinkSync('good', join(top, 'link'))
  symlinkSync('nowhere', join(top, 'dangling'))
  symlinkSync('loop', join(top, 'loop'))
  symlinkSync('/etc', join(top, 'into-etc'))
  symlinkSync('../../elsewhere/plugin.json', join(top, 'linked/.claude-plugin/plugin.json'))
  execFileSync('mkfifo', [join(top, 'piped/.claude-plugin/plugin.json')])
})
afterAll(() => fixture.rm())

const codesOf = (path: string, cwd = top) => {
  const { errors, warnings, valid } = preflightPlugin(path, cwd)
  expect(valid).toBe(errors.length === 0)
  for (const { message, suggestion } of [...errors, ...warnings]) {
    expect(message).not.toBe('')
    expect(suggestion).toMatch(/\.$/)
  }
  return [errors.map(({ code }) => code), warnings.map(({ code }) => code)]
}

test('a correct plugin passes without warnings', () => {
  expect(preflightPlugin('good', top)).toEqual({
    valid: true,
    plugin_path: join(top, 'good'),
    resolved_path: join(top, 'good'),
    manifest_path: join(top, 'good/.claude-plugin/plugin.json'),
    plugin_name: 'good-one',
    errors: [],
    warnings: [],
  })
})

test.each([
  ['/etc', 'PATH_DANGEROUS'],
  ['/etc/nothing-there', 'PATH_DANGEROUS'],
  ['/proc/self', 'PATH_DANGEROUS'],
  ['/sys/class', 'PATH_DANGEROUS'],
  ['/root/plugin', isRoot() ? 'PATH_NOT_FOUND' : 'PATH_DANGEROUS'],
  ['/usr/../etc/x', 'PATH_DANGEROUS'],
  ['into-etc', 'PATH_DANGEROUS'],
  ['into-etc/ssl', 'PATH_DANGEROUS'],
  ['/etcetera/x', 'PATH_NOT_FOUND'],
  ['/rooted', 'PATH_NOT_FOUND'],
  ['missing', 'PATH_NOT_FOUND'],
  ['file/below', 'PATH_NOT_FOUND'],
  ['file/below/deeper', 'PATH_NOT_FOUND'],
  ['nul\0byte', 'PATH_NOT_FOUND'],
  ['dangling', 'PATH_RESOLUTION_FAILED'],
  ['loop', 'PATH_RESOLUTION_FAILED'],
  ['file', 'MANIFEST_NOT_FOUND'],
  ['empty', 'MANIFEST_NOT_FOUND'],
  ['directory', 'MANIFEST_NOT_FOUND'],
  ['linked', 'MANIFEST_NOT_FOUND'],
  ['piped', 'MANIFEST_NOT_FOUND'],
  ['broken', 'MANIFEST_PARSE_ERROR'],
  ['list', 'MANIFEST_INVALID'],
])('%j ends the check with only %s', (path, code) => {
  expect(codesOf(path)).toEqual([[code], []])
})

test.each(['nameless', 'numbered', 'blank'])('a missing name (%s) does not end the check', (path) => {
  expect(codesOf(path)).toEqual([['MANIFEST_INVALID'], ['NO_COMPONENTS']])
})

test('a manifest that is not JSON is reported with its position', () => {
  expect(preflightPlugin('broken', top).errors[0]?.message).toContain('line 2, column 14')
})

test('warnings are reported together, and the plugin is still valid', () => {
  expect(codesOf('../link', join(top, 'work'))).toEqual([[], ['PATH_OUTSIDE_CWD', 'SYMLINK_RESOLVED']])
  expect(codesOf('Odd')).toEqual([[], ['NAME_FORMAT']])
  expect(codesOf('hooked')).toEqual([[], ['NO_COMPONENTS']])
  expect(codesOf('marked')).toEqual([[], []])
})

test('a link is resolved before anything is read', () => {
  expect(preflightPlugin('link', top)).toMatchObject({
    plugin_path: join(top, 'link'),
    resolved_path: join(top, 'good'),
    plugin_name: 'good-one',
  })
})

test('a sibling with the same prefix is outside', () => {
  const beside = join(top, 'work-2')
  mkdirSync(join(beside, '.claude-plugin'), { recursive: true })
  mkdirSync(join(beside, 'skills'))
  writeFileSync(join(beside, '.claude-plugin/plugin.json'), '{"name":"beside"}')
  expect(codesOf(beside, join(top, 'work'))).toEqual([[], ['PATH_OUTSIDE_CWD']])
  rmSync(beside, { recursive: true })
})

test('a directory without a manifest is a plugin when it has components, and is called like its directory', () => {
  const bare = join(top, 'bare')
  mkdirSync(join(bare, 'hooks'), { recursive: true })
  expect(preflightPlugin('bare', top)).toMatchObject({
    valid: true,
    plugin_name: 'bare',
    manifest_path: null,
  })
  expect(codesOf('bare')).toEqual([[], ['MANIFEST_NOT_FOUND', 'NO_COMPONENTS']])
  rmSync(bare, { recursive: true })
})

test('a plugin of a marketplace needs neither manifest nor components', () => {
  expect(preflightPlugin('empty', top, 'listed')).toMatchObject({ valid: true, plugin_name: 'listed' })
})

test('a marketplace is no plugin, and the hint says how to use it', () => {
  const market = join(top, 'market')
  mkdirSync(join(market, '.claude-plugin'), { recursive: true })
  writeFileSync(join(market, '.claude-plugin/marketplace.json'), '{}')
  expect(preflightPlugin('market', top).errors[0]).toMatchObject({
    code: 'MANIFEST_NOT_FOUND',
    message: `${market} is a marketplace, not a plugin`,
    suggestion: expect.stringContaining('--marketplace'),
  })
  rmSync(market, { recursive: true })
})
