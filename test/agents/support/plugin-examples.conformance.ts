import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'
import { endpointVariables } from '../../../src/models/boundary/contract.ts'
import { openBoundary } from '../../../src/models/boundary/open-boundary.ts'
import { createScriptResponder } from '../../../src/models/boundary/script/responder.ts'
import { readBoundaryScript } from '../../../src/models/boundary/script/schema.ts'
import { loadPlugins } from './load-plugin.ts'
import { whenInstalled } from './when-installed.ts'

const examples = join(import.meta.dirname, '../../../examples/plugin')
const at = (name: string): string => join(examples, name)
const good = ['release-notes', 'overlapping', 'weather', 'hooks-only']
const home = mkdtempSync(join(tmpdir(), 'gantry-plugin-home-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

interface Ended {
  readonly code: number
  readonly said: string
}

/** `claude plugin …` without a model, in its own home. */
function plugin(
  id: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const options = {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // Nothing listens there. Without it these commands look up the address of the real API.
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
      ...env,
    },
  }
  return new Promise((settle) => {
    execFile(findAgent(id)?.program ?? '', ['plugin', ...argv], options, (error, stdout, stderr) => {
      settle({ code: error === null ? 0 : Number(error.code), said: stdout + stderr })
    })
  })
}

interface Said<T> {
  readonly now: T
  /** Where 2.1.197 said something else. */
  readonly old?: T
}

interface Broken {
  readonly name: string
  /** Exit code and words of `claude plugin validate --strict`. */
  readonly validate: Said<readonly [number, string]>
  readonly session: Said<{ readonly isThere: boolean; readonly error?: string; readonly server?: string }>
}

const broken: readonly Broken[] = [
  {
    name: 'manifest-not-json',
    validate: { now: [1, 'Invalid JSON syntax'] },
    session: { now: { isThere: false, error: 'corrupt manifest file' } },
  },
  {
    name: 'manifest-of-wrong-types',
    validate: { now: [1, 'name: Invalid input: expected string, received array'] },
    session: { now: { isThere: false, error: 'invalid manifest file' } },
  },
  {
    name: 'frontmatter-not-yaml',
    validate: { now: [1, 'YAML frontmatter failed to parse'] },
    session: { now: { isThere: true } },
  },
  {
    name: 'hooks-without-wrapper',
    validate: { now: [1, 'hooks.json must have'], old: [1, 'expected record, received undefined'] },
    session: { now: { isThere: true, error: 'Hook load failed' } },
  },
  {
    name: 'unknown-event',
    validate: { now: [1, 'unknown hook event; entry ignored'], old: [1, 'Invalid key in record'] },
    session: { now: { isThere: true }, old: { isThere: true, error: 'Hook load failed' } },
  },
  {
    name: 'hook-command-missing',
    validate: { now: [1, 'expected string, received undefined'] },
    session: {
      now: { isThere: false, error: 'Invalid command hook' },
      old: { isThere: true, error: 'Hook load failed' },
    },
  },
  {
    // Claude Code gives up after half a minute.
    name: 'mcp-never-answers',
    validate: { now: [0, 'Validation passed'] },
    session: { now: { isThere: true, server: 'failed' } },
  },
  {
    name: 'mcp-crashes',
    validate: { now: [0, 'Validation passed'] },
    session: { now: { isThere: true, server: 'failed' } },
  },
]

export function describePluginExamples(id: string): void {
  const isOld = id.endsWith('old')
  whenInstalled([id], `${id} and the example plugins`, () => {
    test.each([...good, '.'])('finds nothing wrong with %s', async (name) => {
      const { code, said } = await plugin(id, ['validate', '--strict', at(name)])
      expect(said).toContain('Validation passed')
      expect(code).toBe(0)
    })

    test('loads all of them at once, whole and without an error', async () => {
      const loaded = await loadPlugins(id, good.map(at))
      expect(loaded.plugin_errors).toEqual([])
      expect(loaded.plugins.map(({ name }) => name)).toEqual(expect.arrayContaining(good))
      expect(ours(loaded.skills)).toEqual([
        'overlapping:condense-text',
        'overlapping:summarize-document',
        'release-notes:next-version',
        // A command that the model cannot use is listed among the skills.
        'release-notes:tag',
        'release-notes:write-release-notes',
        'weather:what-to-wear',
      ])
      expect(ours(loaded.agents)).toEqual(['release-notes:release-reviewer'])
      expect(ours(loaded.commands)).toEqual(
        expect.arrayContaining([
          'overlapping:summarize',
          'release-notes:changelog:check',
          'release-notes:draft',
          'release-notes:tag',
        ]),
      )
      expect(loaded.mcp_servers).toEqual([
        expect.objectContaining({ name: 'plugin:weather:almanac', status: 'connected' }),
      ])
      expect(loaded.tools).toEqual(
        expect.arrayContaining([
          'mcp__plugin_weather_almanac__forecast',
          'mcp__plugin_weather_almanac__cities',
        ]),
      )
    })

    describe('broken in eight ways', () => {
      test.each(broken)('$name', async ({ name, validate, session }) => {
        const { code, said } = await plugin(id, ['validate', '--strict', at(`broken/${name}`)])
        const [wantedCode, wantedWords] = isOld ? (validate.old ?? validate.now) : validate.now
        expect(said).toContain(wantedWords)
        expect(code).toBe(wantedCode)
        const loaded = await loadPlugins(id, [at(`broken/${name}`)])
        const wanted = isOld ? (session.old ?? session.now) : session.now
        expect(loaded.plugins.some((one) => one.name === name)).toBe(wanted.isThere)
        expect(loaded.plugin_errors).toEqual(
          wanted.error === undefined ? [] : [expect.stringContaining(wanted.error)],
        )
        expect(loaded.mcp_servers.map(({ status }) => status)).toEqual(
          wanted.server === undefined ? [] : [wanted.server],
        )
      })
    })

    test('installs them from the marketplace they lie in', async () => {
      const place = mkdtempSync(join(tmpdir(), 'gantry-marketplace-'))
      const market = join(place, 'examples')
      cpSync(examples, market, { recursive: true })
      const env = { HOME: place }
      const said = [await plugin(id, ['marketplace', 'add', market], env)]
      for (const name of good) said.push(await plugin(id, ['install', `${name}@gantry-examples`], env))
      for (const { code, said: words } of said) expect(code, words).toBe(0)
      const { said: list } = await plugin(id, ['list'], env)
      for (const name of good) expect(list).toContain(`${name}@gantry-examples`)
      rmSync(place, { recursive: true, force: true })
    })
  })
}

export function describeBuiltInRunner(): void {
  whenInstalled(['claude-code'], 'claude plugin eval', () => {
    test('reads the same cases, and scores them by the same script', async () => {
      const root = mkdtempSync(join(tmpdir(), 'gantry-plugin-eval-'))
      cpSync(at('release-notes'), root, { recursive: true })
      const boundary = await openBoundary({})
      const script = readBoundaryScript(at('release-notes/model.yaml'))
      const { endpoint } = boundary.open({ responder: createScriptResponder(script, {}) })
      const argv = ['eval', root, '--trust-plugin', '--no-publish', '--ablation', 'none', '--json']
      const env = { ...endpointVariables(endpoint), IS_SANDBOX: '1' }
      const { code, said } = await plugin('claude-code', argv, env)
      await boundary.close()
      rmSync(root, { recursive: true, force: true })
      const { aggregates, cases } = JSON.parse(said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1)) as {
        readonly aggregates: { readonly casesPassed: number; readonly casesTotal: number }
        readonly cases: readonly { readonly name: string; readonly aggregates: { readonly score: number } }[]
      }
      expect(cases.map(({ name, aggregates: { score } }) => [name, score])).toEqual([
        ['changed-default-is-breaking', 1],
        ['notes-in-words-for-users', 1],
        ['quiet-for-a-commit-message', 1],
      ])
      expect(aggregates).toMatchObject({ casesPassed: 3, casesTotal: 3 })
      expect(code).toBe(0)
    })
  })
}

/** The names that carry the name of a plugin, in order. */
function ours(names: readonly string[]): readonly string[] {
  return names.filter((name) => good.some((plugin) => name.startsWith(`${plugin}:`))).toSorted()
}
