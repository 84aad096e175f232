import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture, type FileTree } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { loadProject } from '../../config/load.ts'
import { GantryError } from '../../core/error.ts'
import { pluginConfigSchema } from './keys/schema.ts'
import { type LoadConfigOptions, loadConfigWithOverrides } from './load-config.ts'

/** The configuration of a directory with these files, or the error, without the directory's own path. */
async function load(files: FileTree, options: Partial<LoadConfigOptions> & { useProject?: boolean } = {}) {
  await using fixture = await createFixture(files)
  const cwd = fixture.path.replace(/\/$/, '')
  const { useProject = false, ...rest } = options
  const given = { env: {}, flags: {}, cwd, ...rest, ...(useProject && { project: loadProject(cwd) }) }
  return { cwd, ...loadConfigWithOverrides(given) }
}

async function failure(...given: Parameters<typeof load>): Promise<GantryError & { text: string }> {
  const error = await load(...given).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof GantryError)) throw new Error(`expected a GantryError, got ${String(error)}`)
  return Object.assign(error, { text: error.message.replaceAll(/\/\S*\//g, '') })
}

const yaml = (text: string): FileTree => ({ 'c.yaml': text })
const named = { file: 'c.yaml' }

describe('sources of the configuration', () => {
  test('nothing at all gives every default', async () => {
    const { config, sources, file, warnings } = await load({})
    expect({ ...config, execution: { ...config.execution, session_strategy: undefined } }).toEqual({
      ...pluginConfigSchema.parse({}),
      execution: { ...pluginConfigSchema.parse({}).execution, session_strategy: undefined },
    })
    expect(config.execution.session_strategy).toBe('batched_by_component')
    expect([sources.size, file, warnings]).toEqual([0, null, []])
  })

  test('config.yaml as cc-plugin-eval ships it is found and loads: null is absent, also in marketplace and resume', async () => {
    const text = readFileSync(
      join(import.meta.dirname, '../../../test/corpus/cc-plugin-eval/config.yaml'),
      'utf8',
    )
    const { config, file, cwd } = await load({ 'config.yaml': text }, { useProject: true })
    expect(file).toBe(join(cwd, 'config.yaml'))
    expect(config).toMatchObject({
      plugin: { path: join(cwd, 'path/to/plugin') },
      execution: { num_reps: 2 },
    })
    expect([config.marketplace, config.resume, config.execution.allowed_tools]).toEqual([
      undefined,
      undefined,
      [],
    ])
    const own = await load(
      { 'config.yaml': text, 'gantry.yaml': 'plugin: { max_concurrent: 4 }' },
      { useProject: true },
    )
    expect(own.config).toMatchObject({ max_concurrent: 4, execution: { num_reps: 1 } })
    expect((await failure({ 'config.yaml': `${text}\n- x` }, { useProject: true })).text).toMatch(
      /^3 problems in config\.yaml/,
    )
  })

  test('a config.yaml of another program is not read, plugin: of gantry.yaml is', async () => {
    const files = { 'config.yaml': 'max_concurrent: 3', 'gantry.yaml': 'plugin: { max_concurrent: 4 }' }
    expect((await load(files)).config.max_concurrent).toBe(10)
    expect((await load(files, { useProject: true })).config.max_concurrent).toBe(4)
    expect((await load(files, { useProject: true, file: 'config.yaml' })).config.max_concurrent).toBe(3)
  })

  test('flag beats environment beats file beats default, key by key', async () => {
    const files = yaml('execution: { num_reps: 2, max_turns: 7 }\nevaluation: { num_samples: 2 }')
    const env = { GANTRY_PLUGIN_EXECUTION_NUM_REPS: '3', GANTRY_PLUGIN_EVALUATION_NUM_SAMPLES: '3' }
    const { config, sources } = await load(files, { ...named, env, flags: { reps: 4 } })
    expect(config.execution).toMatchObject({ num_reps: 4, max_turns: 7, timeout_ms: 60_000 })
    expect(config.evaluation.num_samples).toBe(3)
    expect(sources.get('execution.num_reps')).toEqual({ kind: 'flag', flag: '--reps' })
    expect(sources.get('evaluation.num_samples')).toMatchObject({
      variable: 'GANTRY_PLUGIN_EVALUATION_NUM_SAMPLES',
    })
    expect(sources.get('execution.max_turns')).toMatchObject({ kind: 'file', at: { line: 1, column: 38 } })
    expect(sources.has('execution.timeout_ms')).toBe(false)
  })

  test('a flag that is off, and one that is absent, do not change the file', async () => {
    const files = yaml('force_synchronous: true\ncases: false\nverbose: true')
    const { config } = await load(files, { ...named, flags: { batch: true, cases: true } })
    expect(config).toMatchObject({ force_synchronous: true, cases: false, verbose: true })
    const off = await load(yaml('verbose: true'), { ...named, flags: { batch: false, cases: false } })
    expect(off.config).toMatchObject({ force_synchronous: true, cases: false, verbose: true })
  })

  test('null counts as absent, at every depth', async () => {
    const { config, sources } = await load(
      yaml('execution:\n  num_reps: null\n  sandbox:\ntuning:\nscope: { hooks: ~ }'),
      named,
    )
    expect(config).toMatchObject({ execution: { num_reps: 1 }, scope: { hooks: false } })
    expect(config.execution.sandbox).toBeUndefined()
    expect([...sources.keys()].filter((key) => key.includes('.'))).toEqual([])
    expect((await load({ 'gantry.yaml': 'plugin:' }, { useProject: true })).config.max_concurrent).toBe(10)
  })

  test.each(['c.json', 'c.conf', 'c'])('JSON is read from %s', async (file) => {
    const { config } = await load({ [file]: '{\n\t"execution": {\n\t\t"num_reps": 2\n\t}\n}' }, { file })
    expect(config.execution.num_reps).toBe(2)
  })

  test('YAML is read from any name but .json, which must be JSON', async () => {
    expect((await load({ 'c.txt': 'dry_run: true' }, { file: 'c.txt' })).config.dry_run).toBe(true)
    expect(await failure({ 'c.json': '{\n  dry_run: true\n}' }, { file: 'c.json' })).toMatchObject({
      code: 'INVALID_FILE',
      text: expect.stringMatching(/^c\.json:2:3: /),
      hint: expect.stringContaining('.yaml'),
    })
  })
})

describe('problems of the configuration', () => {
  test('an unknown key is reported with its position and the nearest one', async () => {
    expect((await failure(yaml('execution:\n  num_rep: 2\n'), named)).text).toBe(
      "c.yaml:2:3: unknown key 'num_rep', did you mean 'num_reps'?",
    )
    expect((await failure({ 'gantry.yaml': 'plugin: { executon: {} }' }, { useProject: true })).text).toBe(
      "gantry.yaml:1:11: unknown key 'executon', did you mean 'execution'?",
    )
  })

  test('a duplicate key, and a missing file, are errors', async () => {
    expect((await failure(yaml('dry_run: true\ndry_run: false'), named)).text).toBe(
      "c.yaml:2:1: duplicate key 'dry_run'",
    )
    expect(await failure({}, { file: 'none.yaml' })).toMatchObject({ code: 'NOT_FOUND' })
  })

  test('every problem has a line with its path', async () => {
    const { text, code } = await failure(
      yaml('execution: { num_reps: 11, timeout_ms: soon }\noutput: { format: xml }'),
      named,
    )
    expect(code).toBe('INVALID_FILE')
    expect(text.split('\n').map((line) => line.trim())).toEqual([
      '3 problems in the configuration of the evaluation',
      'c.yaml:1:24: execution.num_reps: must be at most 10',
      'c.yaml:1:40: execution.timeout_ms: expected a number, received a string',
      expect.stringContaining("c.yaml:2:19: output.format: expected one of 'json'"),
    ])
  })

  test('the issues of the schema and the original cause are reachable as causes', async () => {
    const invalid = await failure(yaml('execution: { num_reps: 11 }'), named)
    expect(invalid.cause).toBeInstanceOf(z.core.$ZodError)
    expect((invalid.cause as z.core.$ZodError).issues).toMatchObject([{ path: ['execution', 'num_reps'] }])
    const missing = await failure({}, { file: 'none.yaml' })
    expect(missing.cause).toMatchObject({ code: 'ENOENT' })
    const outer = new GantryError('INVALID_FILE', 'cannot evaluate', { cause: missing })
    expect((outer.cause as Error).cause).toMatchObject({ code: 'ENOENT' })
  })

  test('an invalid flag or variable is named', async () => {
    expect(await failure({}, { flags: { samples: 9 } })).toMatchObject({
      code: 'USAGE',
      message: '--samples: evaluation.num_samples: must be at most 5',
    })
    expect(await failure({}, { env: { GANTRY_PLUGIN_EXECUTION_MAX_BUDGET_USD: '0' } })).toMatchObject({
      code: 'USAGE',
      message: 'GANTRY_PLUGIN_EXECUTION_MAX_BUDGET_USD: execution.max_budget_usd: must be at least 0.1',
    })
    expect(await failure({}, { flags: { strategy: 'isolate' } })).toMatchObject({
      message: expect.stringContaining("did you mean 'isolated'?"),
    })
    expect(await failure({}, { flags: { scope: ['hook'] } })).toMatchObject({ hint: "Did you mean 'hooks'?" })
  })
})

describe('keys that need each other', () => {
  test.each([
    ['execution: { sandbox: { network: {} } }', "c.yaml:1:23: missing key 'enabled' in execution.sandbox"],
    ['marketplace: { evaluate_all: true }', "c.yaml:1:14: missing key 'path' in marketplace"],
    ['fast_mode: { enabled: true }', 'c.yaml:1:12: fast_mode.failed_run_id: is required when'],
    ['fast_mode: { failed_run_id: r }', 'c.yaml:1:29: fast_mode.failed_run_id: has no effect unless'],
    ['execution: { arms: [alone, crowd] }', 'c.yaml:1:20: execution.arms: crowd needs other plugins'],
    ['execution: { arms: [alone, alone] }', 'c.yaml:1:20: execution.arms: each arm once'],
    ['plugin: { name: x }', 'c.yaml:1:17: plugin.name: is set, but neither'],
    ['output: { sanitization: { enabled: true } }', 'c.yaml:1:25: output.sanitization: has no effect'],
    [
      'tuning: { timeouts: { retry_initial_ms: 9000, retry_max_ms: 2000 } }',
      'c.yaml:1:61: tuning.timeouts.retry_max_ms: is shorter than',
    ],
    [
      'output: { sanitize_logs: true, sanitization: { custom_patterns: [{ pattern: (a+)+, replacement: x }] } }',
      'c.yaml:1:77: output.sanitization.custom_patterns[0]: the pattern is unsafe',
    ],
    ['execution: { model: "openai:gpt-5" }', 'c.yaml:1:21: execution.model: Claude Code cannot use'],
    [
      'execution: { allowed_tools: [Bash], disallowed_tools: [Edit, Bash] }',
      'c.yaml:1:62: execution.disallowed_tools: Bash is also in execution.allowed_tools',
    ],
    ['execution: { env: { "A B": x } }', "c.yaml:1:21: key 'A B': is not a valid variable name"],
  ])('%s is refused', async (text, message) => {
    expect((await failure(yaml(text), named)).text).toContain(message)
  })

  const thinking = 'execution: { max_thinking_tokens: 2000, model: MODEL }'
  const heat = 'generation: { temperature: 0.5, model: MODEL, reasoning_effort: EFFORT }'
  test.each([
    [thinking.replace('MODEL', 'opus'), /^execution\.max_thinking_tokens has no effect: claude-opus-5-5/],
    [thinking.replace('MODEL', 'default'), /max_thinking_tokens has no effect/],
    [thinking.replace('MODEL', 'sonnet-4.6'), /max_thinking_tokens has no effect/],
    [
      'execution: { max_thinking_tokens: 2000, model: opus, env: { CLAUDE_CODE_DISABLE_ADAPTIVE_THINKING: "1" } }',
      /max_thinking_tokens has no effect/,
    ],
    [thinking.replace('MODEL', 'sonnet-4.5'), null],
    [
      'execution: { max_thinking_tokens: 2000, model: sonnet-4.6, env: { CLAUDE_CODE_DISABLE_ADAPTIVE_THINKING: "1" } }',
      null,
    ],
    [
      heat.replace('MODEL', 'opus').replace('EFFORT', 'none'),
      /^generation\.temperature has no effect: anthropic:claude-opus-5-5/,
    ],
    [
      heat.replace('MODEL', 'sonnet-4.5').replace('EFFORT', 'low'),
      /while generation\.reasoning_effort is low/,
    ],
    [
      heat.replace('MODEL', 'default').replace('EFFORT', 'none'),
      /^generation\.temperature has no effect: anthropic:/,
    ],
    [heat.replace('MODEL', 'sonnet-4.5').replace('EFFORT', 'none'), null],
    [heat.replace('MODEL', 'openai:gpt-5').replace('EFFORT', 'low'), null],
    ['evaluation: { temperature: 0.2, model: haiku-4.5 }', /while evaluation\.reasoning_effort is low/],
    ['generation: { model: opus }', null],
  ])('%s is reported when it cannot act', async (text, message) => {
    const { warnings } = await load(yaml(text), { ...named, env: { ANTHROPIC_API_KEY: 'made-up' } })
    expect(warnings).toEqual(message === null ? [] : [expect.stringMatching(message)])
  })

  test('a key of cc-plugin-eval without effect here is reported', async () => {
    const { warnings } = await load(yaml('tuning: { timeouts: { sdk_token_counting_ms: 30000 } }'), named)
    expect(warnings).toEqual([expect.stringContaining('sdk_token_counting_ms has no effect')])
  })

  test('may come from different sources', async () => {
    const { config } = await load(yaml('fast_mode: { enabled: true }\nmarketplace: { evaluate_all: true }'), {
      ...named,
      flags: { failedRun: 'run_1', marketplace: 'market' },
    })
    expect(config.fast_mode).toEqual({ enabled: true, failed_run_id: 'run_1' })
    expect(config.marketplace?.evaluate_all).toBe(true)
    expect(await failure({}, { flags: { fast: true } })).toMatchObject({
      message: expect.stringMatching(/^--fast: fast_mode\.failed_run_id: is required/),
    })
    expect(await failure({}, { env: { GANTRY_PLUGIN_MARKETPLACE_EVALUATE_ALL: 'true' } })).toMatchObject({
      message: expect.stringMatching(/^GANTRY_PLUGIN_MARKETPLACE_EVALUATE_ALL: missing key 'path'/),
    })
  })

  test('session_isolation is deprecated, and session_strategy overrides it', async () => {
    const old = await load(yaml('execution: { session_isolation: true }'), named)
    expect(old.config.execution.session_strategy).toBe('isolated')
    expect(old.config.execution).not.toHaveProperty('session_isolation')
    expect(old.warnings).toEqual([expect.stringContaining('session_strategy: isolated')])
    const both = await load(
      yaml('execution: { session_isolation: true, session_strategy: batched_by_component }'),
      named,
    )
    expect(both.config.execution.session_strategy).toBe('batched_by_component')
    expect(both.warnings).toEqual([expect.stringContaining('batched_by_component is used')])
  })

  test('an allowed tool is removed from the default list', async () => {
    const { config } = await load(yaml('execution: { allowed_tools: ["Bash(git *)", Write] }'), named)
    expect(config.execution.disallowed_tools).toEqual(['Edit'])
    const said = await load(
      yaml('execution: { allowed_tools: ["Bash(git *)"], disallowed_tools: [Bash] }'),
      named,
    )
    expect(said.config.execution.disallowed_tools).toEqual(['Bash'])
  })

  test('sanitizing without patterns gives a warning', async () => {
    expect((await load(yaml('output: { sanitize_logs: true }'), named)).warnings).toEqual([
      expect.stringContaining('only cap long texts'),
    ])
    expect((await load({}, { flags: { sanitize: true } })).warnings).toEqual([])
  })
})

describe('paths', () => {
  test('of a file start at its directory, of flags and variables at the working directory', async () => {
    const { config, cwd } = await load(
      {
        'sub/c.yaml': `plugin: { path: ../mine }
execution: { cwd: work, additional_plugins: [a, /b], additional_directories: [docs] }
scenarios: ["more/*.yaml"]
generation: { model: "scripted:answers.yaml" }`,
      },
      {
        file: 'sub/c.yaml',
        env: { GANTRY_PLUGIN_EXECUTION_CWD: 'there' },
        flags: { withPlugins: ['c'], judgeModel: 'scripted:j.yaml' },
      },
    )
    expect(config.plugin?.path).toBe(join(cwd, 'mine'))
    expect(config.execution.cwd).toBe(join(cwd, 'there'))
    expect(config.execution.additional_plugins).toEqual([join(cwd, 'c')])
    expect(config.execution.additional_directories).toEqual([join(cwd, 'sub/docs')])
    expect(config.scenarios).toEqual([join(cwd, 'sub/more/*.yaml')])
    expect(config.generation.model).toBe(`scripted:${join(cwd, 'sub/answers.yaml')}`)
    expect(config.evaluation.model).toBe(`scripted:${join(cwd, 'j.yaml')}`)
  })

  test('of gantry.yaml start at its directory', async () => {
    await using files = await createFixture({
      'gantry.yaml': 'plugin: { plugin: { path: p } }',
      'a/b/.keep': '',
    })
    const cwd = join(files.path, 'a/b')
    const { config, file } = loadConfigWithOverrides({ project: loadProject(cwd), env: {}, flags: {}, cwd })
    expect(config.plugin?.path).toBe(join(files.path, 'p'))
    expect(file).toBe(join(files.path, 'gantry.yaml'))
  })

  test('with a marketplace --plugin may be a name, unless a directory has that name', async () => {
    const files = { 'c.yaml': 'marketplace: { path: m }\nplugin: { path: old }', 'here/x': '' }
    const byName = await load(files, { ...named, flags: { plugin: 'there' } })
    expect(byName.config.plugin).toEqual({ name: 'there' })
    const byPath = await load(files, { ...named, flags: { plugin: 'here' } })
    expect(byPath.config.plugin).toEqual({ path: join(byPath.cwd, 'here') })
    const slash = await load(files, { ...named, flags: { plugin: './there' } })
    expect(slash.config.plugin?.path).toBe(join(slash.cwd, 'there'))
    const alone = await load({}, { flags: { plugin: 'there' } })
    expect(alone.config.plugin?.path).toBe(join(alone.cwd, 'there'))
  })
})

test('a loaded configuration can be stored and read back by the schema', async () => {
  const { config } = await load(yaml('execution: { sandbox: { enabled: true }, arms: [alone] }'), named)
  expect(pluginConfigSchema.parse(JSON.parse(JSON.stringify(config)))).toEqual(config)
})
