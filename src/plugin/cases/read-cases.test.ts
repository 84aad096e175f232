import { symlinkSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { describe, expect, onTestFinished, test } from 'vitest'
import { partsOf } from '../../../test/support/plugin-parts.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { type ReadCasesOptions, readCases } from './read-cases.ts'

type Files = Readonly<Record<string, string>>

const ok = '---\ntype: regex\n---\nok\n'

const read = async (
  files: Files,
  change: Partial<ReadCasesOptions> = {},
  prepare: (root: string) => void = () => {},
) => {
  const fixture = await createFixture(files)
  onTestFinished(() => fixture.rm())
  const root = fixture.path.replace(/\/$/, '')
  prepare(root)
  const result = await readCases(root, { plugin: partsOf(root), ...change })
  return {
    ...result,
    root,
    ids: result.scenarios.map(({ id }) => id),
    reported: result.problems.map(
      ({ severity, message }) => `${severity} ${message.replaceAll(`${root}/`, '')}`,
    ),
  }
}

/** One case called `a`. */
const one = async (prompt: string, graders: Files = { g: ok }, more: Files = {}) => {
  const files = Object.entries(graders).map(([name, text]) => [`evals/a/graders/${name}.md`, text] as const)
  const result = await read({ 'evals/a/prompt.md': prompt, ...Object.fromEntries(files), ...more })
  return { ...result, scenario: result.scenarios[0] }
}

const yamlCase = (rest: string) => `schema_version: "1.1"\nname: a\n${rest}`

test('a prompt and its graders become a scenario with all fields of the case', async () => {
  const { scenario, problems, root } = await one(
    [
      '---',
      'description: Greets by name.',
      'tags: [smoke]',
      'runs: 5',
      'model: sonnet',
      'max_turns: 7',
      'timeout_seconds: 90',
      'allowed_tools: [Read, Write]',
      'disallowed_tools: [WebFetch]',
      'append_system_prompt: Be kind.',
      'env: {EVAL_MODE: fast}',
      '---',
      '',
      'Say hello to Bob.',
      '',
    ].join('\n'),
    { triggers: '---\ntype: tool_used\ntool: Skill\ninput_match: \'"skill":"demo:greet"\'\n---\n', says: ok },
  )
  expect(problems).toEqual([])
  expect(scenario).toEqual({
    id: 'a',
    component_ref: 'greet',
    component_type: 'skill',
    expected_component: 'greet',
    scenario_type: 'direct',
    user_prompt: 'Say hello to Bob.',
    expected_trigger: true,
    reasoning: 'Greets by name.',
    origin: 'case',
    tags: ['smoke'],
    needs_tools: ['Write'],
    case: {
      dir: `${root}/evals/a`,
      runs: 5,
      model: 'sonnet',
      max_turns: 7,
      timeout_ms: 90_000,
      allowed_tools: ['Read', 'Write'],
      disallowed_tools: ['WebFetch'],
      append_system_prompt: 'Be kind.',
      env: { EVAL_MODE: 'fast' },
      graders: [
        {
          name: 'says',
          weight: 1,
          arm: 'default',
          type: 'regex',
          pattern: 'ok',
          flags: '',
          match: 'contains',
          target: 'last_message',
        },
        {
          name: 'triggers',
          weight: 1,
          arm: 'default',
          type: 'tool_used',
          use: { tool: 'Skill', input_match: '"skill":"demo:greet"' },
          min: 1,
          max: null,
        },
      ],
    },
  } satisfies PluginScenario)
})

test.each([
  ['no frontmatter at all', 'no frontmatter\n---\nx\n', 'no frontmatter\n---\nx'],
  ['an empty one', '---\n---\nbody\n', 'body'],
  ['lines of Windows', '---\r\nruns: 1\r\n---\r\none\r\ntwo\r\n', 'one\r\ntwo'],
  ['a byte order mark', '\uFEFF---\nruns: 1\n---\nbody\n', 'body'],
  ['dashes in the text', '---\nruns: 1\n---\nabove\n\n---\n\nbelow\n', 'above\n\n---\n\nbelow'],
  ['white space around', '---\nruns: 1\n---\n\n\n  body  \n\n', 'body'],
  [
    'a path and an argument',
    '---\n---\nLook at @README.md and $ARGUMENTS',
    'Look at @README.md and $ARGUMENTS',
  ],
])('a prompt with %s is sent unchanged', async (_, text, prompt) => {
  expect((await one(text)).scenario?.user_prompt).toBe(prompt)
})

describe('case.yaml', () => {
  test('can contain the whole case', async () => {
    const { scenarios, problems } = await read({
      'evals/a/case.yaml': yamlCase(
        [
          'runs: 2',
          'execution: {prompt: "  spaced \\n", max_turns: 3, env: {EVAL_X: "1"}}',
          'graders:',
          '  - {type: llm, name: good, criteria: It is fine., weight: 2, arm: both}',
          '  - {type: tool_order, name: order, before: Read, after: {tool: Write, input_match: x}}',
        ].join('\n'),
      ),
    })
    expect(problems).toEqual([])
    expect(scenarios).toMatchObject([
      {
        user_prompt: '  spaced \n',
        component_ref: '',
        case: {
          runs: 2,
          max_turns: 3,
          env: { EVAL_X: '1' },
          graders: [
            { name: 'good', type: 'llm', weight: 2, arm: 'both', focus: 'last_message' },
            { name: 'order', before: { tool: 'Read' }, after: { tool: 'Write', input_match: 'x' } },
          ],
        },
      },
    ])
  })

  test('prompt.md wins over it, and the graders of both are used', async () => {
    const { scenarios, problems } = await read({
      'evals/a/case.yaml': yamlCase(
        'execution: {prompt: old, max_turns: 3, model: opus}\ngraders: [{type: regex, name: first, pattern: ok}]\n',
      ),
      'evals/a/prompt.md': '---\nname: renamed\nmax_turns: 9\n---\nnew\n',
      'evals/a/graders/second.md': ok,
    })
    expect(problems).toEqual([])
    expect(scenarios).toMatchObject([
      {
        id: 'renamed',
        user_prompt: 'new',
        case: { max_turns: 9, model: 'opus', graders: [{ name: 'first' }, { name: 'second' }] },
      },
    ])
  })

  test('a text-only conversation before the prompt becomes setup messages, one with tools stays a file', async () => {
    const line = (role: string, content: unknown) =>
      JSON.stringify({ type: role, message: { role, content } })
    const said = [
      line('user', 'I have a bug.'),
      line('assistant', [{ type: 'text', text: ' Fixed it.' }]),
    ].join('\n')
    const used = line('assistant', [{ type: 'tool_use', id: 'x', name: 'Read', input: {} }])
    const file = yamlCase('context: {history_file: h.jsonl}\n')
    const plain = await one('And now?', { g: ok }, { 'evals/a/case.yaml': file, 'evals/a/h.jsonl': said })
    expect(plain.scenario?.setup_messages).toEqual([
      { role: 'user', content: 'I have a bug.' },
      { role: 'assistant', content: ' Fixed it.' },
    ])
    expect(plain.scenario?.case?.history_file).toBeUndefined()
    const long = `${said}\n${line('user', 'x'.repeat(1_100_000))}`
    const kept = await one('And now?', { g: ok }, { 'evals/a/case.yaml': file, 'evals/a/h.jsonl': long })
    expect(kept.scenario?.case?.history_file).toBe(`${kept.root}/evals/a/h.jsonl`)
    const tools = await one(
      'And now?',
      { g: ok },
      { 'evals/a/case.yaml': file, 'evals/a/h.jsonl': `${said}\n${used}` },
    )
    expect(tools.scenario?.setup_messages).toBeUndefined()
    expect(tools.scenario?.case?.history_file).toBe(`${tools.root}/evals/a/h.jsonl`)
  })

  test('files of the case directory are found by name', async () => {
    const { scenario, root } = await one(
      'x',
      { g: ok },
      {
        'evals/a/case.yaml': yamlCase('context: {scaffold_script: s.sh, add_dirs: [data]}\n'),
        'evals/a/s.sh': 'echo hi',
        'evals/a/data/x.txt': 'x',
      },
    )
    expect(scenario?.case).toMatchObject({
      scaffold_script: `${root}/evals/a/s.sh`,
      add_dirs: [`${root}/evals/a/data`],
    })
  })
})

describe('where cases are', () => {
  const c = (path: string): Files => ({ [`${path}/prompt.md`]: path, [`${path}/graders/g.md`]: ok })

  test('directories group cases, and other files are ignored', async () => {
    const { ids, problems } = await read({
      ...c('evals/one'),
      ...c('evals/group/deep/two'),
      ...c('evals/one/nested'),
      ...c('evals/results/2026'),
      ...c('evals/mine/results/2026'),
      ...c('evals/cassettes/x'),
      ...c('evals/node_modules/x'),
      'evals/evals.json': '[]',
      'evals/notes/readme.md': 'x',
    })
    expect(ids).toEqual(['two', 'one'])
    expect(problems).toEqual([])
  })

  test('cases with the same name are identified by their path', async () => {
    const files = { ...c('evals/a/x'), ...c('evals/b/x'), ...c('evals/y') }
    expect((await read(files)).ids).toEqual(['a.x', 'b.x', 'y'])
    const strange = { 'evals/s p/prompt.md': '---\nname: "../ä b"\n---\nx', 'evals/s p/graders/g.md': ok }
    expect((await read(strange)).ids).toEqual(['b'])
  })

  test('a plugin without cases gives no scenarios', async () => {
    expect(await read({ 'README.md': 'x' })).toMatchObject({ scenarios: [], problems: [] })
  })

  test('the manifest names the directory', async () => {
    const files = { ...c('evals/a'), ...c('quality/evals/b') }
    const plugin = (evals: unknown) => ({ plugin: { ...partsOf(''), manifest: { experimental: { evals } } } })
    expect((await read(files, plugin('./quality/evals/'))).ids).toEqual(['b'])
    for (const [evals, why] of [
      ['../x', 'leads out'],
      ['/tmp/x', 'must be relative'],
      ['', 'names no directory'],
      ['.', 'names no directory'],
      [5, 'not a string'],
      ['.hidden', 'not a plain name'],
      ['skills/x', 'loaded by Claude Code'],
    ] as const) {
      const { ids, reported } = await read(files, plugin(evals))
      expect(ids).toEqual(['a'])
      expect(reported).toEqual([expect.stringMatching(new RegExp(`^warning .*${why}`))])
    }
  })

  test('links are not followed, wherever they lead', async () => {
    const { ids, reported } = await read(
      {
        ...c('evals/a'),
        ...c('evals/b'),
        ...c('evals/e'),
        ...c('real/inside'),
        'secret.md': '---\n---\nsecret',
      },
      {},
      (root) => {
        symlinkSync('../real/inside', `${root}/evals/c`)
        symlinkSync('/etc/hostname', `${root}/evals/a/graders/out.md`)
        symlinkSync('../../secret.md', `${root}/evals/b/case.yaml`)
      },
    )
    expect(ids).toEqual(['e'])
    expect(reported.toSorted()).toEqual([
      'error evals/a/graders/out.md: is a link: cases are plain files and directories',
      expect.stringContaining('error evals/b/case.yaml'),
      expect.stringContaining('error evals/b/case.yaml'),
      'error evals/c: is a link: cases are plain files and directories',
    ])
    const whole = await read({ 'README.md': 'x' }, {}, (root) => symlinkSync('/etc', `${root}/evals`))
    expect(whole).toMatchObject({ scenarios: [], problems: [{ severity: 'error' }] })
  })

  const forecast = '---\ntype: tool_used\ntool: mcp__plugin_demo_weather__forecast\n---\n'

  test('mocks of the suite, the group and the case answer, each overriding the one before file by file', async () => {
    const files = {
      ...c('evals/a'),
      ...c('evals/group/b'),
      'evals/group/b/graders/calls.md': forecast,
      ...c('evals/group/c'),
      'evals/group/c/graders/calls.md': '---\ntype: regex\ntarget: mock_calls\n---\nOslo',
      'evals/group/c/mocks/weather/forecast.md':
        '---\nerror: true\nexpect: {city: /^O/}\n---\nRainy in {{input.city}}.\n',
      'evals/group/mocks/weather/forecast.md': 'Sunny. {{file:fixtures/more.txt}}',
      'evals/group/mocks/weather/warn.md': 'No warning.',
      'evals/group/mocks/weather/fixtures/more.txt': 'And warm.',
      'evals/group/mocks/weather/_tools.json':
        '{"tools":[{"name":"warn","description":"Warns.","inputSchema":{"type":"object"}}]}',
    }
    const { scenarios, reported } = await read(files)
    expect(reported).toEqual([])
    const mocksOf = (id: string) => scenarios.find((one) => one.id === id)?.case?.mocks
    expect(mocksOf('a')).toBeUndefined()
    expect(mocksOf('b')).toMatchObject([
      {
        cli_name: 'plugin:demo:weather',
        tools: [
          { name: 'forecast', text: 'Sunny. And warm.', is_error: false, expect: {} },
          { name: 'warn', description: 'Warns.', input_schema: { type: 'object' } },
        ],
      },
    ])
    expect(mocksOf('c')).toMatchObject([
      {
        tools: [
          { name: 'forecast', text: 'Rainy in {{input.city}}.', is_error: true, expect: { city: '/^O/' } },
          { name: 'warn' },
        ],
      },
    ])
    const played = await read({ ...files, 'evals/group/mocks/weather/other.md': '---\ntype: agent\n---\nx' })
    expect(played.ids).toEqual(['a'])
    expect(played.reported[0]).toMatch(/^error evals\/group\/mocks\/weather\/other.md: is played by a model/)
    const real = await read(files, { realServers: true })
    expect(real.ids).toEqual(['a', 'b', 'c'])
    expect(real.scenarios.every((one) => one.case?.mocks === undefined)).toBe(true)
  })
})

describe('problems are reported with their position and affect only their case', () => {
  const bad = async (prompt: string, graders?: Files, more?: Files) => {
    const { reported, ids } = await one(prompt, graders, {
      'evals/good/prompt.md': 'x',
      'evals/good/graders/g.md': ok,
      ...more,
    })
    expect(ids).toEqual(['good'])
    return reported
  }

  test.each([
    ['max_turn: 3', "prompt.md:2:1: unknown key 'max_turn', did you mean 'max_turns'?"],
    ['runs: 0', 'prompt.md:2:7: runs:'],
    ['runs: 51', 'prompt.md:2:7: runs:'],
    ['runs: 1.5', 'prompt.md:2:7: runs:'],
    ['runs:', 'prompt.md:2:1: runs:'],
    ['max_turns: 201', 'prompt.md:2:12: max_turns:'],
    ['max_turns: 0', 'prompt.md:2:12: max_turns:'],
    ['timeout_seconds: 3601', 'prompt.md:2:18: timeout_seconds:'],
    ['tags: smoke', 'prompt.md:2:7: tags:'],
    ['allowed_tools: Read, Skill', 'prompt.md:2:16: allowed_tools:'],
    ['env: {FOO: x}', 'only variables named EVAL_'],
    ['env: {EVAL_a: x}', 'only variables named EVAL_'],
    ['env: {EVAL_X: 1}', 'prompt.md:2:15: env.EVAL_X:'],
    ['name: ""', 'prompt.md:2:7: name:'],
    ['schema_version: "2.0"', 'prompt.md:2:17: schema_version:'],
    ['context: {add_dirs: []}', "unknown key 'context'"],
    ['runs: 1\nruns: 2', "prompt.md:3:1: duplicate key 'runs'"],
    ['runs: [1', 'prompt.md:'],
    ['- a', 'prompt.md:2:1:'],
  ])('%j above a prompt', async (yaml, message) => {
    const reported = await bad(`---\n${yaml}\n---\nx\n`)
    expect(reported).toHaveLength(1)
    expect(reported[0]).toContain(`error evals/a/`)
    expect(reported[0]).toContain(message)
  })

  test.each([
    ['type: script', 'graders/g.md:2:7: type:'],
    ['type: regex\nfoo: 1', "graders/g.md:3:1: unknown key 'foo'"],
    ['type: regex\nflag: i', "unknown key 'flag', did you mean 'flags'?"],
    ['type: regex\nweight: 0', 'graders/g.md:3:9: weight:'],
    ['type: regex\nweight: -1', 'graders/g.md:3:9: weight:'],
    ['type: regex\nweight: "2"', 'graders/g.md:3:9: weight:'],
    ['type: regex\narm: without', 'graders/g.md:3:6: arm:'],
    ['type: regex\nflags: x', 'must be flags of a JavaScript pattern'],
    ['type: regex\nmatch: count:x', 'must be contains, not_contains or count:N'],
    ['type: regex\nmatch: count:-1', 'must be contains, not_contains or count:N'],
    ['type: regex\ntarget: nowhere', 'graders/g.md:3:9: target'],
    ['type: regex\ntarget: {source: file}', 'graders/g.md:3:9:'],
    ['type: regex\ntarget: {source: file, path: x, more: 1}', "unknown key 'more'"],
    ['type: regex\npattern: (ok', 'graders/g.md:3:10: invalid JavaScript pattern'],
    ['type: regex\npattern: "(?i)ok"', 'graders/g.md:3:10: invalid JavaScript pattern'],
    ['type: regex\npattern: "a(?=b)"', 'graders/g.md:3:10: lookaround (?=…) cannot be used'],
    ['type: regex\npattern: "(a)\\\\1"', 'a backreference'],
    ['type: tool_used', "missing key 'tool'"],
    ['type: tool_used\ntool: Skill\nmin: -1', 'graders/g.md:4:6: min:'],
    ['type: tool_used\ntool: Skill\nmin: 0.5', 'graders/g.md:4:6: min:'],
    ['type: tool_used\ntool: Skill\ninput_match: {skill: x}', 'graders/g.md:4:14: input_match:'],
    ['type: tool_used\ntool: Skill\ninput_match: "("', 'graders/g.md:4:14: invalid JavaScript pattern'],
    ['type: tool_order\nbefore: Read', "missing key 'after'"],
    ['type: tool_order\nbefore: {tool: Read, foo: 1}\nafter: Write', "unknown key 'foo'"],
    ['type: file_exists', "missing key 'path'"],
    ['type: file_exists\npath: x\nexists: "no"', 'graders/g.md:4:9: exists:'],
    ['type: llm\nfocus: {source: file, path: shot.png}\ncriteria: x', 'pictures cannot be shown'],
    ['type: baseline\nbaseline_file: gone.jsonl\ncriteria: x', "the baseline 'gone.jsonl'"],
    ['type: baseline\nbaseline_file: ../../x\ncriteria: x', "the baseline '../../x'"],
  ])('%j in a grader', async (yaml, message) => {
    const reported = await bad('x', { g: `---\n${yaml}\n---\n${yaml.includes('pattern') ? '' : 'text\n'}` })
    expect(reported.join('\n')).toContain(message)
  })

  test('a pattern or criterion that is missing or invalid', async () => {
    expect(await bad('x', { g: '---\ntype: regex\n---\n\n' })).toEqual([
      expect.stringContaining('evals/a/graders/g.md:5:1: pattern is missing'),
    ])
    const [reported] = await bad('x', { g: '---\ntype: regex\n---\n\n(?<=a)b\n' })
    expect(reported).toContain('graders/g.md:5:1: lookaround')
    expect((await bad('x', { g: '---\ntype: llm\n---\n' }))[0]).toContain('criteria is missing')
  })

  test('unterminated frontmatter', async () => {
    expect((await bad('---\nruns: 1\nx\n'))[0]).toContain('prompt.md:1:1: the frontmatter begins')
    expect((await bad('x', { g: '---\ntype: regex\n' }))[0]).toContain('graders/g.md:1:1')
  })

  test('no prompt, no graders, two graders with the same name', async () => {
    expect(await bad('---\nruns: 1\n---\n\n')).toEqual(['error evals/a: has no prompt'])
    expect(await bad('x', {})).toEqual(['error evals/a: has no graders'])
    const twice = { g: ok, h: '---\ntype: regex\nname: g\n---\nx' }
    expect(await bad('x', twice)).toEqual(["error evals/a: has two graders 'g'"])
    expect(await bad('x', { g: 'just a rubric' })).toEqual([
      'warning evals/a/graders/g.md: has no frontmatter, so it is not a grader',
      'error evals/a: has no graders',
    ])
  })

  test.each([
    ['name: a\n', "missing key 'schema_version'"],
    ['schema_version: "1.1"\n', "missing key 'name'"],
    [yamlCase('max_turns: 3\n'), "case.yaml:3:1: unknown key 'max_turns'"],
    [yamlCase('execution: {promt: x}\n'), "unknown key 'promt', did you mean 'prompt'?"],
    [yamlCase('graders: [{type: regex, pattern: x}]\n'), "case.yaml:3:11: missing key 'name' in graders[0]"],
    [
      yamlCase('graders: [{type: regex, name: x, pattern: "(?!a)"}]\n'),
      'case.yaml:3:43: graders[0]: lookaround',
    ],
    [yamlCase('graders: []\n'), 'case.yaml:3:10: graders:'],
    [yamlCase('context: {history_file: gone.jsonl}\n'), "case.yaml:3:25: the case has no file 'gone.jsonl'"],
    [yamlCase('context: {add_dirs: [../..]}\n'), "case.yaml:3:22: '../..' may not be used"],
    [yamlCase('context: {scaffold_script: /bin/sh}\n'), "'/bin/sh' may not be used"],
  ])('%j as case.yaml', async (text, message) => {
    const reported = await bad('x', { g: ok }, { 'evals/a/case.yaml': text })
    expect(reported).toEqual([expect.stringContaining(message)])
  })

  test('a huge file, a binary file, and plugins outside of the plugin are reported', async () => {
    expect((await bad('x'.repeat(1_100_000)))[0]).toContain('prompt.md: is larger than 1024 KiB')
    expect((await bad('a\0b'))[0]).toContain('prompt.md: is not a text file')
    expect((await bad('---\nplugins: [../../../other]\n---\nx'))[0]).toContain(
      "plugins names '../../../other'",
    )
    expect((await bad('---\nplugins: [../gone]\n---\nx'))[0]).toContain('which does not exist')
  })
})

test('plugins may name the plugin itself', async () => {
  const { scenario, problems } = await one('---\nplugins: [../..]\n---\nx')
  expect(problems).toEqual([])
  expect(scenario?.case?.plugins).toBeUndefined()
})

test('keys without effect give a warning', async () => {
  const { scenario, reported } = await one('---\nartifact_publish: true\n---\nx', {
    never: '---\ntype: tool_used\ntool: Skill\nmax: 0\n---\n',
    gone: '---\ntype: tool_used\ntool: Skill\ninput_match: demo:gone\n---\n',
  })
  expect(scenario?.id).toBe('a')
  expect(reported).toEqual([
    "warning evals/a: grader 'never' can never pass: it wants at least 1 and at most 0 calls",
    'warning evals/a: artifact_publish has no effect here',
    "warning evals/a: grader 'gone' is about a component that the plugin does not have",
  ])
})
