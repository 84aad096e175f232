import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { globSync } from 'tinyglobby'
import { describe, expect, test } from 'vitest'
import { hookCodecs } from '../src/agents/hook-codecs.ts'
import { hookInstallerOf, installableAgents } from '../src/agents/hook-installers.ts'
import { guardCommand } from '../src/cli/guard/index.ts'
import { historyFold } from '../src/guard-engine/history/index.ts'
import { type Setting, settingTable } from '../src/guard-engine/settings/setting-table.ts'
import { stateView } from '../src/guard-engine/views/write-views.ts'
import { rules } from '../src/rules/index.ts'
import { readDocument, root } from './e2e/support/documents.ts'

const page = ['docs/guard.md', 'docs/guard-settings.md'].map((path) => readDocument(path).text).join('\n')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map(cellsOf)
const settings: readonly (readonly [string, Setting])[] = Object.entries(settingTable)

describe('the pages about the guard', () => {
  test.each(settings)('has the setting %s with its default, its variable and its meaning', (key, setting) => {
    const initial = `\`${JSON.stringify(setting.initial).replaceAll('","', '", "')}\``
    const variable = setting.variable === undefined ? '–' : `\`${setting.variable}\``
    expect(rows).toContainEqual([`\`${key}\``, initial, variable, setting.about.replace(/\.$/, '')])
  })

  test('has no setting that is not there', () => {
    const named = rows
      .map(([key = '']) => key)
      .filter((key) => /^`(middleware\.|completion\.|boundary\.|state\.(?!json))/.test(key))
    expect(named).toHaveLength(settings.filter(([key]) => key.includes('.')).length)
  })

  test('has every variable the guard reads', () => {
    const sources = globSync('src/{rules,guard,guard-engine,guard-install}/**/*.ts', {
      cwd: root,
      ignore: '**/*.test.ts',
    })
    const names = sources.flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/\bGANTRY_GUARD_[A-Z_]*[A-Z]\b/g)].map(
        ([name]) => name,
      ),
    )
    expect(names.length).toBeGreaterThan(3)
    expect([...new Set(names)].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  test('has every rule and every command', () => {
    for (const { name } of rules) expect(rows.map(([cell]) => cell)).toContain(`\`${name}\``)
    const silent = { write: () => {}, isTTY: false, columns: 100, color: false }
    const context = { cwd: root, env: {}, stdout: silent, stderr: silent, setExitCode: () => {} }
    const { commands } = guardCommand({ ...context, signal: new AbortController().signal })
    const names = commands.map((command) => command.name())
    const listed = rows.map(([cell = '']) => cell).join()
    expect(names.length).toBeGreaterThan(8)
    expect(names.filter((name) => !new RegExp(`gantry guard ${name}\\b`).test(listed))).toEqual([])
  })

  test.each(installableAgents)('shows where the hooks of %s are', (agent) => {
    const place = { root: '/p', home: '/h', env: {} }
    const { files } = hookInstallerOf(agent, hookCodecs[agent])
    const row = rows.find(([name, path]) => name === agent && path?.startsWith('`.'))
    expect(row?.[1]).toBe(`\`${files('project', place)[0]?.slice('/p/'.length)}\``)
    expect(row?.[2]).toBe(`\`~${files('user', place)[0]?.slice('/h'.length)}\``)
  })

  test('documents every field of state.json', () => {
    const fields = Object.keys(stateView(historyFold.initial))
    expect(fields.filter((field) => !page.includes(`\`${field}\``))).toEqual([])
  })
})

test('the example of harness.json is valid and has every setting at its default', () => {
  const file: Record<string, unknown> = JSON.parse(
    readFileSync(join(root, 'examples/guard/harness.json'), 'utf8'),
  )
  for (const [key, { initial }] of settings) {
    const value = key
      .split('.')
      .reduce<unknown>((inside, name) => (inside as Record<string, unknown>)[name], file)
    expect(value, key).toEqual(initial)
  }
  const schema = JSON.parse(readFileSync(join(root, 'schemas/harness.schema.json'), 'utf8'))
  const validate = new Ajv2020({ strict: false }).compile(schema)
  expect(validate(file), JSON.stringify(validate.errors)).toBe(true)
})

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
}
