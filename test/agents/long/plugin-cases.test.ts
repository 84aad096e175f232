import { createFixture, type FsFixture } from 'fs-fixture'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resolveModel } from '../../../src/models/index.ts'
import { type GradeOptions, gradeTrial } from '../../../src/plugin/cases/grade-trial.ts'
import { readCases } from '../../../src/plugin/cases/read-cases.ts'
import { writeCases } from '../../../src/plugin/cases/write-cases.ts'
import { pluginConfigSchema } from '../../../src/plugin/config/keys/schema.ts'
import type { Arm } from '../../../src/plugin/contract.ts'
import type { PluginScenario } from '../../../src/plugin/generate/contract.ts'
import { partsOf } from '../../support/plugin-parts.ts'
import { scenarioOf, skillOf } from '../../support/plugin-trial.ts'
import {
  type BuiltinCase,
  type BuiltinEval,
  type BuiltinResult,
  openBuiltinEval,
} from '../support/builtin-eval.ts'
import { whenInstalled } from '../support/when-installed.ts'

const plugin = {
  '.claude-plugin/plugin.json': JSON.stringify({ name: 'demo', version: '1.0.0', description: 'A demo.' }),
  'skills/greet/SKILL.md': '---\nname: greet\ndescription: Greets people.\n---\nSay hello.\n',
  'skills/greet-formally/SKILL.md': '---\nname: greet-formally\ndescription: Bows.\n---\nBow.\n',
  'skills/writing-rules/SKILL.md': '---\nname: Writing Rules\ndescription: Writes rules.\n---\nWrite.\n',
  'agents/reviewer.md': '---\nname: reviewer\ndescription: Reviews code.\n---\nReview.\n',
  'commands/deploy/staging.md': '---\ndescription: Deploys.\n---\nDeploy $ARGUMENTS to staging.\n',
  '.mcp.json': JSON.stringify({ mcpServers: { weather: { command: 'false' } } }),
}

const call = (name: string, input: object): string => `CALL ${name} ${JSON.stringify(input)}END`
const greet = call('Skill', { skill: 'demo:greet' })
const review = call('Agent', {
  subagent_type: 'demo:reviewer',
  description: 'review',
  prompt: 'Look.',
  run_in_background: false,
})
const forecast = call('mcp__plugin_demo_weather__forecast', { city: 'Oslo' })
const staging = {
  component_type: 'command',
  component_ref: 'deploy/staging',
  expected_component: 'deploy/staging',
} as const
const quiet = { expected_trigger: false, scenario_type: 'negative' } as const

const skills = [
  skillOf('greet'),
  skillOf('greet-formally'),
  { ...skillOf('Writing Rules'), cli_name: 'demo:writing-rules' },
]

/** Each twice: a model that does what is expected, and one that does not. */
const scenarios: readonly PluginScenario[] = [
  scenarioOf({ id: 'skill-right', user_prompt: `Greet. ${greet}` }),
  scenarioOf({ id: 'skill-wrong', user_prompt: `Greet. ${call('Skill', { skill: 'demo:greet-formally' })}` }),
  scenarioOf({ id: 'quiet-right', user_prompt: 'Be quiet.', ...quiet }),
  scenarioOf({ id: 'quiet-wrong', user_prompt: `Be quiet. ${greet}`, ...quiet }),
  scenarioOf({
    id: 'renamed-right',
    user_prompt: `Write a rule. ${call('Skill', { skill: 'demo:writing-rules' })}`,
    component_ref: 'Writing Rules',
    expected_component: 'Writing Rules',
  }),
  ...[review, 'Nothing.'].map((words, index) =>
    scenarioOf({
      id: index === 0 ? 'agent-right' : 'agent-wrong',
      user_prompt: `Review. ${words}`,
      component_type: 'agent',
      component_ref: 'reviewer',
      expected_component: 'reviewer',
    }),
  ),
  ...[forecast, 'Nothing.'].map((words, index) =>
    scenarioOf({
      id: index === 0 ? 'server-right' : 'server-wrong',
      user_prompt: `Weather? ${words}`,
      component_type: 'mcp_server',
      component_ref: 'weather',
      expected_component: 'weather',
    }),
  ),
  scenarioOf({ id: 'asked-right', user_prompt: 'Tell me about staging.', ...staging, ...quiet }),
  scenarioOf({
    id: 'asked-wrong',
    user_prompt: `Deploy. ${call('Skill', { skill: 'demo:deploy:staging' })}`,
    ...staging,
    ...quiet,
  }),
  scenarioOf({ id: 'typed-right', user_prompt: '/demo:deploy:staging now', ...staging }),
  scenarioOf({
    id: 'hook-right',
    user_prompt: `Write. ${call('Write', { file_path: 'new.txt', content: 'x' })}`,
    component_type: 'hook',
    component_ref: 'PreToolUse::Write|Edit',
    expected_component: 'PreToolUse::Write|Edit',
    needs_tools: ['Write'],
    files: { 'src/old.txt': "it's old\n" },
  }),
  scenarioOf({
    id: 'proactive-right',
    scenario_type: 'proactive',
    user_prompt: `And now? ${greet}`,
    setup_messages: [
      { role: 'user', content: 'SETUP QUESTION\nin two lines' },
      { role: 'assistant', content: 'SETUP "ANSWER"' },
    ],
  }),
  scenarioOf({ id: 'spaces-right', user_prompt: `\n  spaces: "kept" \\ # here ${greet}\t\n\n` }),
  scenarioOf({ id: 'markup-right', user_prompt: `---\nruns: 1\n---\n@README.md é 😀 ${greet}` }),
]

/** Graders of every kind, and what is looked at is the same session. */
const graderFiles: Readonly<Record<string, string>> = {
  says: 'type: regex\npattern: ok',
  case: 'type: regex\npattern: OK',
  'ignore-case': 'type: regex\npattern: OK\nflags: i',
  count: 'type: regex\npattern: o\nmatch: count:2',
  absent: 'type: regex\npattern: nope\nmatch: not_contains',
  sticky: 'type: regex\npattern: done\nflags: y',
  space: 'type: regex\npattern: ok\\sdone',
  'trace-call': 'type: regex\ntarget: trace\npattern: \'"name":"Write","input":\\{"file_path":"sub/out\'',
  'trace-prompt': 'type: regex\ntarget: trace\npattern: MARKER',
  'trace-result': 'type: regex\ntarget: trace\npattern: \'"type":"result"\'',
  'trace-lines': 'type: regex\ntarget: trace\nflags: m\npattern: \'^\\{"type":"assistant".*"name":"Write"\'',
  files: "type: regex\ntarget: files\nflags: m\npattern: '^sub/out.txt$'",
  'files-first': "type: regex\ntarget: files\npattern: '^sub/out'",
  content: "type: regex\ntarget: {source: file, path: sub/out.txt}\npattern: '^hello ok$'",
  'content-gone': 'type: regex\ntarget: {source: file, path: gone.txt}\npattern: x',
  'content-out': 'type: regex\ntarget: {source: file, path: ../x}\npattern: x',
  mocks: 'type: regex\ntarget: mock_calls\nmatch: not_contains\npattern: x',
  twice: 'type: tool_used\ntool: Write\nmin: 2\nmax: 2',
  lower: 'type: tool_used\ntool: write',
  star: "type: tool_used\ntool: 'W*'",
  input: 'type: tool_used\ntool: Write\ninput_match: \'^\\{"file_path":"sub\'',
  'input-case': 'type: tool_used\ntool: Write\ninput_match: SUB',
  'unknown-skill': 'type: tool_used\ntool: Skill\ninput_match: demo:gone',
  'no-bash': 'type: tool_used\ntool: Bash\nmin: 0\nmax: 0',
  'max-only': 'type: tool_used\ntool: Bash\nmax: 0',
  order: 'type: tool_order\nbefore: Write\nafter: Skill',
  'order-back': 'type: tool_order\nbefore: Skill\nafter: {tool: Write, input_match: sub}',
  'order-same': 'type: tool_order\nbefore: Write\nafter: {tool: Write, input_match: hid}',
  'order-never': 'type: tool_order\nbefore: Write\nafter: Bash',
  ...Object.fromEntries(
    [
      'sub/out.txt',
      '*.txt',
      '**/*.txt',
      '**/*.md',
      'sub/{out,in}.txt',
      './sub/out.txt',
      'sub',
      'sub/*',
      'sub/**',
      '?ub/out.txt',
      'S*/*',
      '**',
    ].map((path, index) => [`glob-${index}`, `type: file_exists\npath: '${path}'`]),
  ),
  'no-file': 'type: file_exists\npath: gone.txt\nexists: false',
  'judge-yes': 'type: llm\ncriteria: SAY PASS',
  'judge-no': 'type: llm\ncriteria: say no\nweight: 2.5',
  'judge-trace': 'type: llm\ncriteria: SAY PASS\nfocus: trace',
  'judge-mocks': 'type: llm\ncriteria: SAY PASS\nfocus: mock_calls',
  baseline: 'type: baseline\nbaseline_file: base.jsonl\ncriteria: SAY PASS',
}

const session = [
  'MARKER',
  call('Write', { file_path: 'sub/out.txt', content: 'hello ok' }),
  call('Skill', { skill: 'demo:gone' }),
  call('Write', { file_path: '.hid/x.md', content: 'h' }),
].join(' ')

const suite: Readonly<Record<string, string>> = {
  'evals/all/prompt.md': `---\nallowed_tools: [Write, Skill]\n---\n${session}\n`,
  'evals/all/base.jsonl': '{"type":"result","result":"BASELINE"}\n',
  ...Object.fromEntries(
    Object.entries(graderFiles).map(([name, yaml]) => [
      `evals/all/graders/${name}.md`,
      `---\n${yaml}\n---\n`,
    ]),
  ),
}

/** Cases in which it matters that there are two arms. */
const compared: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'only-skill': { skill: 'type: tool_used\ntool: Skill' },
  'skill-and-words': {
    skill: 'type: tool_used\ntool: Skill\nmin: 0\nmax: 0',
    says: 'type: regex\npattern: ok',
  },
  forced: { skill: 'type: tool_used\ntool: Skill\narm: both', says: 'type: regex\npattern: ok' },
  'with-only': {
    mine: 'type: regex\npattern: nope\narm: with-only',
    says: 'type: regex\npattern: ok\nweight: 3',
  },
  'nothing-else': {
    mine: 'type: regex\npattern: nope\narm: with-only\nweight: 3',
    skill: 'type: tool_used\ntool: Skill',
  },
  'other-tool': {
    tool: 'type: tool_used\ntool: mcp__plugin_demo_weather__forecast',
    says: 'type: regex\npattern: ok',
  },
}

const judged = async (): Promise<GradeOptions['judge']> => {
  const fixture = await createFixture({
    'judge.yaml':
      'answers:\n  - {match: SAY PASS, json: {passed: true}}\n  - {match: say no, json: {passed: false}}\n',
  })
  const model = await resolveModel('scripted:judge.yaml', { env: {}, base: fixture.path })
  await fixture.rm()
  return { model, config: pluginConfigSchema.parse({}) }
}

/** What our graders say about the very session that the built-in runner graded, in its words. */
const ours = async (
  result: BuiltinResult,
  scenario: PluginScenario,
  one: BuiltinCase,
  arm: Arm,
  arms: readonly Arm[],
) => {
  const [run] = (arm === 'without' ? one.arms.without : one.arms.with) ?? []
  if (run === undefined) throw new Error(`${one.name} has no run in the arm ${arm}`)
  const { execution, transcript } = result.trialOf(run, scenario)
  const trial = { ...execution.trial, arm }
  const graded = await gradeTrial(scenario, { ...execution, trial }, transcript, {
    arms,
    judge: await judged(),
  })
  return {
    builtin: {
      score: run.score.toFixed(6),
      graders: run.graders.map(({ name, passed, scored }) => ({ name, passed, scored })),
    },
    ours: {
      score: graded.score?.toFixed(6),
      graders: graded.gates.map(({ gate, scored }) => ({
        name: gate.detail.grader,
        passed: gate.passed,
        scored,
      })),
    },
  }
}

whenInstalled(['claude-code'], 'cases in claude plugin eval', () => {
  let builtin: BuiltinEval
  beforeAll(() => {
    builtin = openBuiltinEval()
  })
  afterAll(() => builtin?.[Symbol.dispose]())

  describe('that Gantry wrote', () => {
    let fixture: FsFixture
    let result: BuiltinResult
    let again: readonly PluginScenario[]
    beforeAll(async () => {
      fixture = await createFixture(plugin)
      const root = fixture.path.replace(/\/$/, '')
      const parts = partsOf(root, { skills })
      await writeCases(scenarios, { dir: `${root}/evals`, plugin: parts })
      again = (await readCases(root, { plugin: parts })).scenarios
      const args = ['--runs', '1', '--ablation', 'none', '--scaffold', '--allow-tools', 'Write', '-j', '4']
      result = await builtin.run(root, args)
    }, 120_000)
    afterAll(() => fixture?.rm())

    test('load without an error, and their prompts are those of the scenarios', () => {
      expect(result.stderr).not.toContain('✗')
      const prompts = (list: readonly { name: string; words: string }[]) =>
        Object.fromEntries(list.map(({ name, words }) => [name, words]))
      expect(prompts(result.cases.map(({ name, promptMarkdown: words }) => ({ name, words })))).toEqual(
        prompts(scenarios.map(({ id: name, user_prompt: words }) => ({ name, words }))),
      )
      for (const { arms } of result.cases) expect(arms.with.map(({ error }) => error)).toEqual([null])
    })

    test('pass where the model did as expected, and fail where it did not', () => {
      for (const { name, arms } of result.cases)
        expect([name, arms.with[0]?.score]).toEqual([name, name.endsWith('-right') ? 1 : 0])
    })

    test('send the prompt byte for byte, after what was said before it', () => {
      const calls = result.asked.map((words) => words.join('\n'))
      for (const { user_prompt: prompt, component_type: type } of scenarios)
        if (type !== 'command') expect(calls.some((words) => words.includes(prompt))).toBe(true)
      expect(
        calls.some((words) => words.includes('SETUP QUESTION\nin two lines') && words.includes('And now?')),
      ).toBe(true)
    })

    test('get the same grades from Gantry and Claude Code', async () => {
      expect(again).toHaveLength(scenarios.length)
      for (const one of result.cases) {
        const scenario = again.find(({ id }) => id === one.name)
        if (scenario === undefined) throw new Error(`${one.name} was not read`)
        const both = await ours(result, scenario, one, 'alone', ['alone'])
        expect({ case: one.name, ...both.ours }).toEqual({ case: one.name, ...both.builtin })
      }
    })
  })

  test('graders of every kind give the same result in Gantry and Claude Code', async () => {
    const fixture = await createFixture({ ...plugin, ...suite })
    try {
      const root = fixture.path.replace(/\/$/, '')
      const { scenarios: read, problems } = await readCases(root, { plugin: partsOf(root) })
      expect(problems.map(({ message }) => message)).toEqual([
        expect.stringContaining("'max-only' can never pass"),
        expect.stringContaining("'unknown-skill' is about a component"),
      ])
      const result = await builtin.run(root, ['--runs', '1', '--ablation', 'none', '--allow-tools', 'Write'])
      const [one] = result.cases
      const [scenario] = read
      if (one === undefined || scenario === undefined) throw new Error(result.stderr)
      const both = await ours(result, scenario, one, 'alone', ['alone'])
      expect(both.builtin.graders).toHaveLength(Object.keys(graderFiles).length)
      expect(both.ours).toEqual(both.builtin)
    } finally {
      await fixture.rm()
    }
  })

  test('with two arms the same graders count', async () => {
    const files = Object.entries(compared).flatMap(([name, graders]) => [
      [`evals/${name}/prompt.md`, `---\nallowed_tools: [Skill]\n---\nDo. ${greet}\n`] as const,
      ...Object.entries(graders).map(
        ([grader, yaml]) => [`evals/${name}/graders/${grader}.md`, `---\n${yaml}\n---\n`] as const,
      ),
    ])
    const fixture = await createFixture({ ...plugin, ...Object.fromEntries(files) })
    try {
      const root = fixture.path.replace(/\/$/, '')
      const { scenarios: read } = await readCases(root, { plugin: partsOf(root) })
      const result = await builtin.run(root, ['--runs', '1', '-j', '4'])
      expect(result.cases).toHaveLength(Object.keys(compared).length)
      for (const one of result.cases)
        for (const arm of ['alone', 'without'] as const) {
          const scenario = read.find(({ id }) => id === one.name)
          if (scenario === undefined) throw new Error(`${one.name} was not read`)
          const both = await ours(result, scenario, one, arm, ['without', 'alone'])
          expect({ case: one.name, arm, ...both.ours }).toEqual({ case: one.name, arm, ...both.builtin })
        }
    } finally {
      await fixture.rm()
    }
  })

  test('Gantry refuses what Claude Code refuses', async () => {
    const bad: Readonly<Record<string, string>> = {
      'unknown-key': '---\nmax_turn: 3\n---\nx',
      'runs-0': '---\nruns: 0\n---\nx',
      'runs-51': '---\nruns: 51\n---\nx',
      'turns-201': '---\nmax_turns: 201\n---\nx',
      'seconds-3601': '---\ntimeout_seconds: 3601\n---\nx',
      'tags-text': '---\ntags: x\n---\nx',
      'version-2': '---\nschema_version: "2.0"\n---\nx',
      unterminated: '---\nruns: 1\nx',
      empty: '---\nruns: 1\n---\n',
      list: '---\n- a\n---\nx',
    }
    const good = '---\ntype: regex\n---\nok\n'
    const files = Object.entries(bad).flatMap(([name, text]) => [
      [`evals/${name}/prompt.md`, text] as const,
      [`evals/${name}/graders/g.md`, good] as const,
    ])
    const fixture = await createFixture({
      ...plugin,
      ...Object.fromEntries(files),
      'evals/fine/prompt.md': 'x',
      'evals/fine/graders/g.md': good,
    })
    try {
      const root = fixture.path.replace(/\/$/, '')
      const { scenarios: read, problems } = await readCases(root, { plugin: partsOf(root) })
      const result = await builtin.run(root, ['--runs', '1', '--ablation', 'none'])
      const refused = (text: string) => Object.keys(bad).filter((name) => text.includes(`/evals/${name}`))
      expect(refused(result.stderr)).toEqual(Object.keys(bad))
      expect(refused(problems.map(({ path }) => path).join('\n'))).toEqual(Object.keys(bad))
      expect([read.map(({ id }) => id), result.cases.map(({ name }) => name)]).toEqual([['fine'], ['fine']])
    } finally {
      await fixture.rm()
    }
  })
})
