import { describe, expect, test } from 'vitest'
import { gantry } from '../support/gantry.ts'
import { smallProject } from '../support/project.ts'
import { runGantry, runIds } from './lab.ts'

describe('a command line that makes no sense', () => {
  test.each<[string[], RegExp]>([
    [['tset'], /^error: unknown command 'tset'\n\(Did you mean test\?\)/],
    [['runs', 'shwo'], /^error: unknown command 'shwo'\n\(Did you mean show\?\)/],
    [['scenario', 'vaildate'], /^error: unknown command 'vaildate'\n\(Did you mean validate\?\)/],
    [['test', '--agnt', 'x'], /^error: unknown option '--agnt'\n\(Did you mean --agent\?\)/],
    [['test', '--agent'], /^error: option '-a, --agent <name>' argument missing/],
    [['runs', 'show'], /^error: missing required argument 'run'/],
    [['runs', 'list', 'extra'], /^error: too many arguments for 'list'/],
    [['test', '--repeat', '0'], /argument '0' is invalid\. Write a whole number from 1 up\./],
    [['test', '--repeat', 'many'], /argument 'many' is invalid\. Write a whole number from 1 up\./],
    [['test', '--repeat', '1.5'], /argument '1\.5' is invalid\. Write a whole number from 1 up\./],
    [['test', '--repeat', ''], /argument '' is invalid\. Write a whole number from 1 up\./],
    [['test', '-j', '-1'], /argument '-1' is invalid\. Write a whole number from 1 up\./],
    [['test', '-j', 'Infinity'], /argument 'Infinity' is invalid\. Write a whole number from 1 up\./],
    [['test', '--tier', '-1'], /argument '-1' is invalid\. Write a whole number from 0 up\./],
    [['test', '--infra-retries', 'x'], /argument 'x' is invalid\. Write a whole number from 0 up\./],
    [['test', '--seed', '0x'], /argument '0x' is invalid\. Write a whole number from 0 up\./],
    [
      ['test', '--timeout', '5'],
      /argument '5' is invalid\. Write a number above 0 and its unit, for example 90s/,
    ],
    [['test', '--timeout', '-5s'], /argument '-5s' is invalid\. Write a number above 0 and its unit/],
    [['test', '--timeout', '0s'], /argument '0s' is invalid/],
    [['test', '--max-time', 'NaNs'], /argument 'NaNs' is invalid\. Write a number above 0 and its unit/],
    [['test', '--max-pause', 'soon'], /argument 'soon' is invalid\. Write a number above 0 and its unit/],
    [['test', '--max-cost-usd', '0'], /argument '0' is invalid\. Write an amount in US dollars above 0/],
    [['test', '--max-cost-usd', 'free'], /argument 'free' is invalid\. Write an amount in US dollars/],
    [['test', '--threshold', '1.1'], /argument '1\.1' is invalid\. Write a number from 0 to 1\./],
    [['test', '--max-infra-rate', '-0.1'], /argument '-0\.1' is invalid\. Write a number from 0 to 1\./],
    [['test', '--shard', '3/2'], /^error: --shard 3\/2 is not a valid shard\nhint: {2}Write i\/n with/],
    [['test', '--shard', '0/2'], /^error: --shard 0\/2 is not a valid shard/],
    [['test', '--shard', 'half'], /^error: --shard half is not a valid shard/],
    [['test', '--filter', '/(/'], /^error: --filter \/\(\/: missing closing \): `\(`\nhint: {2}\S/],
    [['test', '--filter', '/(?=x)/'], /^error: --filter .*\nhint: {2}Patterns run in linear time/],
    [
      ['test', '--filter', 'zzz'],
      /^error: none of 1 scenario matches the filters\nhint: {2}'gantry scenario list'/,
    ],
    [['test', '--tag', 'zzz'], /^error: none of 1 scenario matches the filters/],
    [
      ['test', '--reporter', 'jnuit'],
      /^error: There is no reporter "jnuit"; did you mean junit\?\nhint: {2}Choose/,
    ],
    [
      ['test', '--reporter', 'junit:'],
      /^error: The reporter "junit:" has a colon but no path\.\nhint: {2}Write/,
    ],
    [
      ['test', '--reporter', 'tap', '--json'],
      /^error: The reporters tap and json would mix on standard output\.\nhint: {2}Send one/,
    ],
    [['test', '--agent', 'wroker'], /^error: no agent 'wroker'\nhint: {2}Did you mean 'worker'\?/],
    [['test', '--agent', 'zzzzzz'], /^error: no agent 'zzzzzz'\nhint: {2}Known: worker\./],
    [
      ['test', '--agent', 'scripted:nothing.yaml'],
      /^error: agent 'scripted:nothing\.yaml' cannot be used: the script .*nothing\.yaml does not exist/,
    ],
    [
      ['test', '--profile', 'nightly'],
      /^error: no profile 'nightly'\nhint: {2}gantry\.yaml describes no profiles\./,
    ],
    [
      ['test', '--profile', 'p', '--agent', 'worker'],
      /^error: --profile names agents and models already\nhint: /,
    ],
    [['test', '--config', 'nothing.yaml'], /^error: .*nothing\.yaml does not exist\nhint: {2}Check the path/],
    [
      ['test', '--target-binary', 'no-such-tool'],
      /^error: .*case\.yaml:\d+:\d+: the tool 'no-such-tool' was not found\nhint: {2}It is not on PATH\./,
    ],
    [['test', '--target-binary', './nothing'], /the tool '\.\/nothing' was not found\nhint: {2}Looked at /],
    [
      ['test', 'nowhere.yaml'],
      /^error: no scenario file, directory or name 'nowhere\.yaml'\nhint: {2}'gantry scenario list'/,
    ],
    [['test', 'cose'], /^error: no scenario file, directory or name 'cose'\nhint: {2}Did you mean 'case'\?/],
    [
      ['test', 'fixtures'],
      /^error: no scenario in fixtures\nhint: {2}A scenario is a YAML file with the keys/,
    ],
    [
      ['test', '--resume', 'run_x'],
      /^error: there is no run "run_x" in .*\nhint: {2}The store has no runs yet\./,
    ],
    [['test', '--resume', '../../etc'], /^error: there is no run "\.\.\/\.\.\/etc" in /],
    [['test', 'case', '--resume', 'run_x'], /^error: --resume continues a run as it was planned.*\nhint: /],
    [
      ['test', '--rerun-failed'],
      /^error: there is no scenario run of this project in .*\nhint: {2}The store has none yet\./,
    ],
    [['test', '--baseline', 'blessed'], /^error: there is no blessed scenario run in .*\nhint: {2}Bless one/],
    [['test', '--watch', '--json'], /^error: --watch cannot be combined with --resume or --json\nhint: /],
    [['test', 'x'.repeat(5_000)], /^error: no scenario file, directory or name 'x+'\nhint: /],
    [
      ['test', '--repeat', '9999999999'],
      /^error: 9999999999 trials are too many for one run\nhint: {2}The limit is 1000000: lower --repeat/,
    ],
    [['runs', 'show', 'latest'], /^error: there is no run in .*\nhint: /],
    [['runs', 'pin', 'nothing'], /^error: there is no run "nothing" in /],
    [
      ['runs', 'clean', '--older-than', 'soon'],
      /^error: --older-than "soon" is not a duration\nhint: {2}Write a number and a unit/,
    ],
    [['scenario', 'show', 'cose'], /name 'cose'\nhint: {2}Did you mean 'case'\?/],
  ])('%j ends with 2, says what is wrong and makes nothing', async (argv, message) => {
    using project = smallProject()
    const { code, stdout, stderr } = await gantry(project, argv)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/bug:|undefined|\n {4}at /)
    expect(stdout).toBe('')
    expect(code).toBe(2)
    expect(runIds(project)).toEqual([])
  })

  test('and the process itself ends with that code', async () => {
    using project = smallProject()
    expect(await runGantry(project, ['test', '--repeat', '0'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: "error: option '--repeat <n>' argument '0' is invalid. Write a whole number from 1 up.\n",
    })
    expect((await runGantry(project, [])).code).toBe(2)
    expect((await runGantry(project, ['test', '--help'])).code).toBe(0)
  })
})

describe('an environment that makes no sense', () => {
  test.each<[Record<string, string>, RegExp]>([
    [
      { GANTRY_BUDGET_USD: 'much' },
      /^error: the budget in the environment is not an amount: "much"\nhint: {2}Set GANTRY_BUDGET_USD/,
    ],
    [{ LLM_TOOL_TEST_BUDGET_USD: '-1' }, /^error: the budget in the environment is not an amount: "-1"/],
    [
      { LLM_TOOL_TEST_ENABLED: '0' },
      /^error: LLM_TOOL_TEST_ENABLED is "0", which forbids runs\nhint: {2}Set it to 1/,
    ],
    [{ GANTRY_AGENT: 'nobody' }, /^error: no agent 'nobody'\nhint: {2}Known: worker\./],
  ])('%j is reported with what to set', async (env, message) => {
    using project = smallProject()
    const { code, stderr } = await gantry(project, ['test'], { env })
    expect(stderr).toMatch(message)
    expect(code).toBe(2)
  })

  test.each<[string, RegExp]>([
    ['gpt', /^error: 'gpt' does not name a model\nhint: {2}Write it as provider:model\. Known providers: /],
    ['nobody:x', /^error: there is no access to models of 'nobody', so 'nobody:x' cannot be used\nhint: /],
    ['scripted:nothing.yaml', /^error: .*nothing\.yaml does not exist\nhint: /],
  ])('a judge model %j that cannot be used is reported before anything runs', async (model, message) => {
    using project = smallProject({
      scenario: {
        evaluation: {
          gates: [{ type: 'file_exists', path: 'done.txt' }],
          judge: { enabled: true, rubric: 'rubric.yaml', pass_threshold: 0.5 },
        },
      },
      files: { 'rubric.yaml': { criteria: [{ id: 'a', weight: 1, description: 'x' }] } },
    })
    const { code, stderr } = await gantry(project, ['test'], { env: { GANTRY_JUDGE_MODEL: model } })
    expect(stderr).toMatch(message)
    expect(code).toBe(2)
    expect(runIds(project)).toEqual([])
    const unnamed = await gantry(project, ['test'])
    expect(unnamed.stderr).toMatch(
      /case\.yaml:\d+:\d+: scenario 'case' needs a judge model, but none was given\nhint: {2}Set one/,
    )
    expect(unnamed.code).toBe(2)
  })
})
