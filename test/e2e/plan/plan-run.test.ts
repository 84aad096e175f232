import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gantry } from '../support/gantry.ts'
import { makeProject } from '../support/project.ts'
import {
  boxes,
  does,
  examplePlan,
  git,
  iterationFile,
  iterationRecord,
  only,
  planOf,
  planRun,
  runDir,
  smallPlan,
  writes,
} from './lab.ts'

const bothDone = {
  scripts: [does('First thing', [writes('done/first')]), does('Second thing', [writes('done/second')])],
  turns: [],
}

test('the example: three tasks, one red at first, all verified by Gantry', async () => {
  using project = examplePlan()
  const run = await planRun(project, ['--agent', 'worker'])
  expect(run.code, run.stderr).toBe(0)
  expect(run.end).toMatchObject({ state: 'done', exit_code: 0, done: 3, open: [], iterations: 4 })
  expect(boxes(project)).toBe('xxx')
  expect(only(run, 'verified').map(({ status }) => status)).toEqual(['green', 'red', 'green', 'green'])
  expect(only(run, 'task_done').map(({ ticked_by }) => ticked_by)).toEqual(['gantry', 'gantry', 'gantry'])
  expect(only(run, 'attempt_failed')).toMatchObject([
    { task: 'Find the longest word', attempt: 1, reason: expect.stringContaining('node --test failed') },
  ])
  // The failure is quoted in the next prompt, and in no other.
  expect(iterationFile(project, 3, 'prompt.md')).toMatch(
    /Attempt 2 of 3[\s\S]*```\nnode --test failed[\s\S]*```/,
  )
  expect(iterationFile(project, 4, 'prompt.md')).not.toContain('Attempt')
  expect(iterationFile(project, 2, 'prompt.md')).not.toContain('Count the words')
  // Without --commit nothing was committed.
  expect(git(project, 'log', '--oneline').trim().split('\n')).toHaveLength(1)
})

test('the liar of the example fails: ticks are undone, .env is not written, the run gives up', async () => {
  using project = examplePlan()
  const before = project.read('IMPLEMENTATION_PLAN.md')
  const run = await planRun(project, ['--agent', 'liar', '--max-attempts', '2'])
  expect(run.code).toBe(1)
  expect(run.end).toMatchObject({ state: 'failed', done: 0, iterations: 2 })
  expect(run.end.reason).toMatch(/given up after 2 attempts at 'Count the words of a text'.*no file except/)
  expect(project.read('IMPLEMENTATION_PLAN.md')).toBe(before)
  expect(existsSync(project.path('.env'))).toBe(false)
  expect(only(run, 'plan_restored').map(({ boxes }) => boxes)).toEqual([
    ['Find the longest word', 'Tell how often each word occurs'],
    ['Find the longest word', 'Tell how often each word occurs'],
  ])
  const events = iterationFile(project, 1, 'events.jsonl')
  expect(events).toMatch(/"tool_result"[^\n]*Gantry guard:[^\n]*\.env/)
})

test('Gantry’s own agent, with a scripted model, is guarded in process', async () => {
  using project = examplePlan()
  const run = await planRun(project, ['--agent', 'mine'])
  expect(run.code, run.stdout + run.stderr).toBe(0)
  expect(run.end).toMatchObject({ state: 'done', iterations: 3, cost_usd: 0, unmetered: 0 })
  // It tried to stop before the tests ran.
  const messages = iterationFile(project, 1, 'events.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ event, role }) => event === 'message' && role === 'system')
  expect(messages).toMatchObject([{ text: expect.stringMatching(/^Gantry guard:[\s\S]*node --test/) }])
  // Other open tasks are not required.
  expect(messages[0].text).not.toMatch(/open task|unchecked|IMPLEMENTATION_PLAN/)
})

test('state.json follows when Gantry ticks a box, and 0 iterations are no limit', async () => {
  using project = smallPlan(bothDone)
  await planRun(project, ['--agent', 'worker', '--max-iterations', '1'])
  const state = () => JSON.parse(project.read('.harness/state.json'))
  expect(state()).toMatchObject({
    tasks_completed: 1,
    tasks_remaining: 1,
    current_task: 'Second thing',
    iteration: 1,
  })
  const rest = await planRun(project, ['--resume', 'latest', '--max-iterations', '0'])
  expect(rest.code, rest.stderr).toBe(0)
  expect(state()).toMatchObject({ tasks_completed: 2, tasks_remaining: 0, current_task: null, iteration: 2 })
})

test('a run directory has everything about each iteration', async () => {
  using project = examplePlan()
  await planRun(project, ['--agent', 'worker', '--max-iterations', '1'])
  const dir = runDir(project)
  const manifest = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'))
  expect(manifest).toMatchObject({ kind: 'plan', status: 'inconclusive', totals: { trials: 1 } })
  expect(manifest.commit_sha).toBe(git(project, 'rev-parse', 'HEAD').trim())
  const kinds = readFileSync(join(dir, 'events.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).kind)
  expect(kinds).toEqual([
    'plan_started',
    'iteration_started',
    'agent_ended',
    'verified',
    'task_done',
    'plan_ended',
  ])
  expect(iterationFile(project, 1, 'diff.patch')).toContain('+export function countWords(text) {')
  expect(iterationFile(project, 1, 'diff.patch')).not.toContain('.harness')
  expect(JSON.parse(iterationFile(project, 1, 'evidence.json'))).toMatchObject([
    {
      command: 'node --test',
      exitCode: 0,
      status: 'green',
      executed: 3,
      treeHash: expect.stringMatching(/^\w{64}$/),
    },
  ])
  expect(iterationFile(project, 1, 'verification.log')).toContain('counts words')
  expect(iterationFile(project, 1, 'transcript.raw.txt')).toContain('Words are counted.')
  expect(iterationRecord(project, 1)).toMatchObject({
    case: 'Count the words of a text',
    file: 'IMPLEMENTATION_PLAN.md:7',
    verdict: 'pass',
    gates: [{ type: 'verification', passed: true }],
    costUsd: null,
  })
  const { stdout } = await gantry(project, ['runs', 'list', '--kind', 'plan'])
  expect(stdout).toMatch(/plan\s+IMPLEMENTATION_PLAN.md with worker\s+inconclusive 1\/1/)
})

test('a limit of iterations with open tasks is inconclusive', async () => {
  using project = smallPlan(bothDone)
  const run = await planRun(project, ['--agent', 'worker', '--max-iterations', '1'])
  expect(run.code).toBe(4)
  expect(run.end).toMatchObject({ state: 'inconclusive', iterations: 1, done: 1 })
  expect(run.end.reason).toContain('--max-iterations')
  expect(run.end.open).toEqual(['Second thing'])
})

test('a box ticked by the agent counts only with a green run and a changed tree', async () => {
  const tick = { run: "sed -i 's/- \\[ \\] First/- [x] First/' IMPLEMENTATION_PLAN.md" }
  using project = smallPlan({
    scripts: [
      does('First thing', [tick], { attempt: 1 }),
      does('First thing', [writes('done/first', 'no\n'), tick], { attempt: 2 }),
      does('First thing', [writes('done/first'), tick], { attempt: 3 }),
    ],
    turns: [],
  })
  const run = await planRun(project, ['--agent', 'worker', '--max-iterations', '3'])
  expect(run.code).toBe(4)
  expect(only(run, 'attempt_failed').map(({ reason }) => reason)).toEqual([
    'no file except IMPLEMENTATION_PLAN.md changed since the task was started',
    './check.sh failed with exit code 1',
  ])
  expect(only(run, 'task_done')).toMatchObject([{ task: 'First thing', ticked_by: 'agent' }])
  expect(iterationFile(project, 3, 'prompt.md')).toContain('not yes: done/first')
  expect(boxes(project)).toBe('x ')
})

test('changes of a failed attempt count for the next one, which need not change anything', async () => {
  using project = smallPlan(
    {
      scripts: [
        // Red the first time, for a reason outside the tree.
        does('First thing', [writes('done/first')], { attempt: 1 }),
        does('First thing', [{ say: 'It is all there.' }], { attempt: 2 }),
      ],
    },
    {
      '.gitignore': 'weather\n',
      'check.sh': '#!/bin/sh\nif [ -e weather ]; then echo "1 passed"; else touch weather; exit 1; fi\n',
      'IMPLEMENTATION_PLAN.md': planOf(['First thing']),
    },
  )
  const run = await planRun(project, ['--agent', 'worker'])
  expect(run.code, run.stdout).toBe(0)
  expect(run.end.iterations).toBe(2)
})

test('a plan cannot be finished by removing tasks', async () => {
  const shorten = { run: "printf '# Plan\\n\\n- [x] First thing\\n' > IMPLEMENTATION_PLAN.md" }
  using project = smallPlan({ turns: [shorten, writes('done/more')] })
  const run = await planRun(project, ['--agent', 'worker', '--max-iterations', '1'])
  expect(run.code).toBe(4)
  expect(only(run, 'plan_restored')).toMatchObject([{ missing: ['Second thing'] }])
  expect(project.read('IMPLEMENTATION_PLAN.md')).toContain('./check.sh')
  expect(boxes(project)).toBe('x ')
})

test('a plan cannot be finished by deleting it, or by rewriting its verification', async () => {
  using project = smallPlan({
    scripts: [does('First thing', [{ delete: 'IMPLEMENTATION_PLAN.md' }, writes('done/first')])],
    turns: [
      writes('done/second', 'no\n'),
      { run: "sed -i 's#`./check.sh`#`echo fine`#' IMPLEMENTATION_PLAN.md" },
    ],
  })
  const run = await planRun(project, ['--agent', 'worker', '--max-iterations', '2'])
  expect(run.code).toBe(4)
  expect(only(run, 'verified').map(({ command, status }) => [command, status])).toEqual([
    ['./check.sh', 'green'],
    ['./check.sh', 'red'],
  ])
})

test('notes and new tasks of an agent stay in the plan, but open', async () => {
  const add = { run: "printf '\\n- [x] Third thing\\n  - found on the way\\n' >> IMPLEMENTATION_PLAN.md" }
  using project = smallPlan({ turns: [writes('done/more'), add] })
  const run = await planRun(project, ['--agent', 'worker', '--max-iterations', '1'])
  expect(project.read('IMPLEMENTATION_PLAN.md')).toContain('- [ ] Third thing\n  - found on the way')
  expect(run.end).toMatchObject({ tasks: 3, done: 1 })
})

test('without a verification command no task counts as done, until the agent adds one', async () => {
  using project = smallPlan(
    {
      scripts: [
        does('First thing', [writes('done/first')], { attempt: 1 }),
        does('First thing', [writes('AGENTS.md', '## Verification\n\n- `./check.sh`\n')], { attempt: 2 }),
      ],
    },
    { 'IMPLEMENTATION_PLAN.md': '- [ ] First thing\n' },
  )
  const run = await planRun(project, ['--agent', 'worker'])
  expect(run.code, run.stdout).toBe(0)
  expect(only(run, 'note').map(({ message }) => message)).toContain(
    'No verification command is declared, so no task can count as done.',
  )
  expect(only(run, 'attempt_failed')).toMatchObject([
    { reason: 'the project declares no verification command' },
  ])
})

test('infrastructure failures are not attempts, and are limited', async () => {
  using project = smallPlan({ turns: [{ infra: { reason: 'unavailable', message: 'no model today' } }] })
  const run = await planRun(project, ['--agent', 'worker', '--max-attempts', '1'])
  expect(run.code).toBe(3)
  expect(run.end).toMatchObject({ state: 'infra', iterations: 0 })
  expect(run.end.reason).toContain('no model today')
  expect(only(run, 'iteration_lost')).toHaveLength(3)
  expect(only(run, 'attempt_failed')).toEqual([])
  // The cause is fixed: the same run continues with its one attempt left.
  project.write({
    'agents/worker.yaml': {
      name: 'worker',
      turns: [writes('done/more'), { run: 'date +%N >> done/more; echo yes >> done/more' }],
    },
  })
  const again = await planRun(project, ['--resume', 'latest'])
  expect(again.code, again.stdout).toBe(0)
  expect(again.end).toMatchObject({ state: 'done', iterations: 2 })
})

test('the budget applies to all iterations together', async () => {
  const spend = { usage: { input_tokens: 1, output_tokens: 1, cost_usd: 0.6 } }
  using project = smallPlan({
    scripts: [does('First thing', [spend, writes('done/first')])],
    turns: [spend, writes('done/second', 'no\n')],
  })
  const run = await planRun(project, ['--agent', 'worker', '--max-cost-usd', '1'])
  expect(run.code).toBe(4)
  expect(run.end).toMatchObject({ state: 'inconclusive', done: 1, iterations: 2 })
  expect(run.end.reason).toContain('--max-cost-usd')
  expect(run.end.cost_usd).toBeCloseTo(1.2)
})

test('secrets reach neither the run directory nor the terminal', async () => {
  const secret = 'correct-horse-battery'
  using project = smallPlan(
    {
      turns: [
        { run: `echo ${secret}` },
        writes('done/secret', `${secret} no\n`),
        { say: `It is ${secret}.` },
      ],
    },
    { 'check.sh': `#!/bin/sh\necho "seen ${secret}"; exit 1\n` },
  )
  const run = await planRun(project, ['--agent', 'worker', '--max-attempts', '2'], {
    env: { MY_TOKEN: secret },
  })
  expect(run.code).toBe(1)
  expect(run.stdout + run.stderr).not.toContain(secret)
  for (const number of [1, 2])
    for (const name of [
      'events.jsonl',
      'transcript.raw.txt',
      'diff.patch',
      'evidence.json',
      'verification.log',
      'prompt.md',
      'result.json',
    ])
      expect(iterationFile(project, number, name), name).not.toContain(secret)
  expect(iterationFile(project, 1, 'diff.patch')).toContain('done/secret')
})

test('a plan elsewhere in the project has its own verification', async () => {
  using project = smallPlan({ turns: [writes('done/more'), { run: 'echo yes >> done/more' }] })
  project.write({
    'docs/other.md': '- [ ] One thing\r\n\r\n## Verification\r\n- `./check.sh`\r\n',
    'IMPLEMENTATION_PLAN.md': '- [ ] untouched\n',
  })
  const run = await planRun(project, ['docs/other.md', '--agent', 'worker'])
  expect(run.code, run.stdout).toBe(0)
  expect(project.read('docs/other.md')).toBe('- [x] One thing\r\n\r\n## Verification\r\n- `./check.sh`\r\n')
  expect(boxes(project)).toBe(' ')
})

test('a project without git works the same, and an agent may have its own home', async () => {
  using project = makeProject({
    'IMPLEMENTATION_PLAN.md': planOf(['First thing']),
    'check.sh': '#!/bin/sh\ntest -e done.txt && echo "1 passed"\n',
    'gantry.yaml': {
      agents: {
        apart: { driver: 'command', home: 'isolated', command: ['sh', '-c', 'echo $HOME > done.txt'] },
      },
    },
  })
  const run = await planRun(project, ['--agent', 'apart'])
  expect(run.code, run.stdout + run.stderr).toBe(0)
  expect(project.read('done.txt').trim()).toBe(join(runDir(project), 'home'))
  expect(iterationFile(project, 1, 'diff.patch')).toContain('done.txt')
})

test('tests weakened during the run are reported', async () => {
  using project = examplePlan({
    'agents/worker.yaml': {
      name: 'worker',
      turns: [
        { delete: 'test/words.test.js' },
        writes('test/other.test.js', "import test from 'node:test'\ntest('x', () => {})\n"),
      ],
    },
  })
  const run = await planRun(project, ['--agent', 'worker', '--max-iterations', '1'])
  expect(
    only(run, 'note')
      .map(({ message }) => message)
      .join('\n'),
  ).toMatch(/tests are weaker than before: .*words\.test\.js/)
  expect(iterationRecord(project, 1).warnings.join()).toContain('words.test.js')
})

test('an agent without hooks runs, with a warning that it is unguarded', async () => {
  using project = smallPlan(
    { turns: [] },
    {
      'gantry.yaml': {
        agents: { bare: { driver: 'command', command: ['sh', '-c', 'echo yes > done/$(date +%N)'] } },
      },
    },
  )
  const run = await planRun(project, ['--agent', 'bare'])
  expect(run.code, run.stdout).toBe(0)
  expect(only(run, 'plan_started')[0]?.guard).toMatch(
    /^UNGUARDED: agents of the driver command have no hooks/,
  )
  const { stdout } = await gantry(project, ['plan', 'run', '--agent', 'bare', '--dry-run'])
  expect(stdout).toContain('UNGUARDED')
})

test('for a person every step is a line with its time', async () => {
  using project = smallPlan({
    scripts: [
      does('First thing', [writes('done/first', 'no\n')], { attempt: 1 }),
      does('First thing', [writes('done/first')], { attempt: 2 }),
      does('Second thing', [writes('done/second')]),
    ],
    turns: [],
  })
  const { stdout, code } = await gantry(project, ['plan', 'run', '--agent', 'worker'])
  expect(code).toBe(0)
  const lines = stdout.trimEnd().split('\n')
  expect(lines.every((line) => /^\d\d:\d\d:\d\d {2}\S| {2}/.test(line))).toBe(true)
  expect(stdout).toMatch(/iteration 2: First thing \(attempt 2 of 3\)/)
  expect(stdout).toMatch(/red \.\/check\.sh/)
  expect(stdout).toMatch(
    /done: every task is done and verified\n.*2 of 2 tasks done, 3 iterations, unmetered/,
  )
})

test('a dry run shows everything and writes nothing', async () => {
  using project = examplePlan()
  const text = (await gantry(project, ['plan', 'run', '--agent', 'worker', '--dry-run'])).stdout
  for (const part of [
    '3 of 3 tasks open',
    '[ ] Find the longest word',
    'node --test',
    'AGENTS.md',
    'asks the guard',
    '3 attempts per task',
    'no earlier run',
  ])
    expect(text).toContain(part)
  expect(existsSync(project.store)).toBe(false)
  expect(git(project, 'status', '--porcelain')).toBe('')
  expect(existsSync(project.path('.harness'))).toBe(false)
  await planRun(project, ['--agent', 'worker', '--max-iterations', '1'])
  const { stdout } = await gantry(project, ['plan', 'run', '--agent', 'worker', '--dry-run', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    tasks: [{ done: true }, { done: false }, { done: false }],
    guard: { state: 'in_process' },
    estimate: { open: 2, learned_from: 1, cost_usd: null, duration_ms: expect.any(Number) },
  })
})

test.each([
  [['--agent', 'nobody'], 2, /no agent 'nobody'/],
  [[], 2, /no agent was named/],
  [['--agent', 'worker', 'nowhere.md'], 2, /no plan/],
  [['--agent', 'worker', '/etc/hostname'], 2, /is not in the project/],
  [['--agent', 'worker', '--max-attempts', '0'], 2, /whole number/],
  [['--resume', 'latest', '--agent', 'worker'], 2, /no plan run|no plan at/],
])('%j is refused before anything is done', async (argv, code, message) => {
  using project = smallPlan({ turns: [] })
  const result = await gantry(project, ['plan', 'run', ...argv])
  expect(result.code).toBe(code)
  expect(result.stderr).toMatch(message)
})

test('a plan without tasks is refused, and one with all tasks done is done', async () => {
  using project = smallPlan({ turns: [] }, { 'IMPLEMENTATION_PLAN.md': '# Nothing\n' })
  expect((await gantry(project, ['plan', 'run', '--agent', 'worker'])).code).toBe(2)
  project.write({ 'IMPLEMENTATION_PLAN.md': '- [x] First thing\n' })
  const run = await planRun(project, ['--agent', 'worker'])
  expect([run.code, run.end.run_id]).toEqual([0, null])
})
