import { execFile } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { findAgent } from '../../scripts/agent-cache.ts'
import { needs } from '../support/needs.ts'
import { fencesOf, readDocument, root } from './support/documents.ts'
import { gantry, gantryTest, startGantry } from './support/gantry.ts'
import { makeProject } from './support/project.ts'

test('curl gets the answer of the script, as the page about the boundary says', async () => {
  using project = makeProject()
  const section = {
    path: 'docs/boundary.md',
    text: sectionOf(readDocument('docs/boundary.md').text, 'Standalone'),
  }
  const [ask, script, shown] = fencesOf(section)
  project.write({ 'ask.sh': ask?.text ?? '', 'hello.yaml': script?.text ?? '' })
  const serve = ['boundary', 'serve', '--script', 'hello.yaml', 'sh', 'ask.sh']
  expect(shown?.text).toContain(`$ gantry ${serve.join(' ')}\n`)
  const { stdout, stderr, code } = await startGantry(project, serve, { cwd: project.dir }).ended
  expect(code).toBe(0)
  expect(stdout).toContain('Hello from a file.')
  const printed = lines(stderr)
  for (const line of lines(shown?.text ?? '').filter((each) => /^(#1|1 exchange|claude)/.test(each)))
    expect(printed.map(withoutTime)).toContain(withoutTime(line))
})

test.each(['README.md', 'docs/get-started.md'])('%s shows what the program really prints', async (page) => {
  using project = makeProject()
  let cwd = root
  for (const { text } of fencesOf(readDocument(page)).filter(({ language }) => language === 'console')) {
    let printed: string[] = []
    for (const line of text.trimEnd().split('\n')) {
      if (line.startsWith('$ cd ')) cwd = join(cwd, line.slice(5))
      else if (line.startsWith('$ gantry ')) printed = lines(await printedBy(line.slice(9).split(' '), cwd))
      else if (line !== '…' && line !== '') {
        const found = printed.indexOf(settled(line))
        expect(found, `${line}\n--- is not in what follows:\n${printed.join('\n')}`).not.toBe(-1)
        printed = printed.slice(found + 1)
      }
    }
  }
  async function printedBy(argv: readonly string[], where: string): Promise<string> {
    return (await startGantry(project, argv, { cwd: where, env: { PWD: where } }).ended).stdout
  }
})

test('the scenario that a newcomer writes has sound gates', async () => {
  using project = makeProject({ 'scenarios/first-steps/AGENTS.md': 'Use git.\n' })
  const [block] = fencesOf(readDocument('docs/get-started.md')).filter(({ mark }) => mark === 'scenario')
  project.write({ 'scenarios/first-steps.yaml': block?.text ?? '' })
  const { stdout, code } = await gantry(project, ['scenario', 'check', '--json'])
  expect(JSON.parse(stdout)).toMatchObject([{ sound: true, noop: { verdict: 'fail' } }])
  expect(code).toBe(0)
})

test.each(['jot', 'command-agent', 'guidance', 'own-parts', 'real-agent'])(
  'the gates of the example %s are sound',
  async (name) => {
    using project = makeProject()
    const { code, stdout } = await gantry(project, ['scenario', 'check'], {
      cwd: join(root, 'examples', name),
    })
    expect(code, stdout).toBe(0)
  },
)

test('the example jot passes the careful agent and fails the hasty one', async () => {
  using project = makeProject()
  const flags = ['--agent', 'careful,hasty', '--judge-model', 'scripted:judge.yaml']
  const { trials, code } = await gantryTest(project, flags, { cwd: join(root, 'examples/jot') })
  expect(code).toBe(1)
  expect(trials.length).toBe(6)
  for (const { agent, verdict } of trials) expect(verdict).toBe(agent === 'careful' ? 'pass' : 'fail')
})

test('the example command-agent passes unchanged and behind its adapter, which reports more', async () => {
  using project = makeProject()
  const cwd = join(root, 'examples/command-agent')
  const { trials, code } = await gantryTest(project, ['--profile', 'both'], { cwd })
  expect(code).toBe(0)
  expect(trials).toMatchObject([
    { agent: 'plain', verdict: 'pass', metrics: { total_commands: 1, source: 'shim' }, tokens: null },
    {
      agent: 'adapted',
      verdict: 'pass',
      metrics: { total_commands: 1, source: 'shim' },
      tokens: { input: 812, output: 64 },
    },
  ])
  const priced = await gantryTest(project, ['--profile', 'priced'], { cwd })
  expect(priced.trials).toMatchObject([{ model: 'toy-1', verdict: 'pass' }])
  expect(priced.trials[0]?.costUsd).toBeCloseTo((812 * 3 + 64 * 15) / 1e6, 9)
})

const realAgent = join(root, 'examples/real-agent')

test('the example real-agent needs only Gantry, and its replay does not need the script', async () => {
  using project = makeProject()
  const cassettes = ['--cassettes', project.path('cassettes')]
  const flags = ['--agent', 'builtin', ...cassettes]
  const recorded = await gantryTest(project, [...flags, '--replay', 'record'], { cwd: realAgent })
  expect(recorded.trials).toMatchObject([{ agent: 'builtin', verdict: 'pass', costUsd: 0 }])
  project.write({ 'gantry.yaml': 'agents:\n  builtin: { driver: builtin }\n' })
  cpSync(join(realAgent, 'scenarios'), project.path('scenarios'), { recursive: true })
  cpSync(join(realAgent, 'fixtures'), project.path('fixtures'), { recursive: true })
  const replayed = await gantryTest(project, [...flags, '--replay', 'strict'])
  expect(replayed.trials).toMatchObject([{ agent: 'builtin', verdict: 'pass', costUsd: 0 }])
})

for (const { agent, id } of [
  { agent: 'claude', id: 'claude-code' },
  { agent: 'codex', id: 'codex' },
]) {
  const program = findAgent(id)?.program ?? null
  needs(id, program !== null)(`the example real-agent tells a repair by ${id} from a claim`, async () => {
    using project = makeProject()
    const PATH = [dirname(program ?? id), process.env.PATH].join(delimiter)
    const agents = agent === 'claude' ? 'claude,liar' : agent
    const { trials } = await gantryTest(project, ['--agent', agents], { cwd: realAgent, env: { PATH } })
    for (const trial of trials)
      expect(trial, trial.reason).toMatchObject({ verdict: trial.agent === 'liar' ? 'fail' : 'pass' })
  })
}

test('the adapter passes the exit code of its agent on', async () => {
  using project = makeProject({ 'toy-agent.sh': 'echo "no \\"luck\\""; exit 7\n' })
  const adapter = readFileSync(join(root, 'examples/command-agent/adapter.sh'), 'utf8')
  project.write({ 'adapter.sh': adapter })
  const failed = await promisify(execFile)('sh', [project.path('adapter.sh'), 'prompt', 'm']).catch(
    (error: { readonly code: number; readonly stdout: string }) => error,
  )
  expect(failed).toMatchObject({ code: 7 })
  expect(failed.stdout.trim().split('\n').map(parseJson)).toMatchObject([
    { event: 'session', model: 'm' },
    { event: 'message', text: 'no "luck"' },
  ])
})

test('the arms of the example guidance differ as its README states', async () => {
  using project = makeProject()
  const cwd = join(root, 'examples/guidance')
  const { summary, comparisons, code } = await gantryTest(project, ['--arms', 'terse,shown'], { cwd })
  expect(code).toBe(0)
  expect(comparisons).toMatchObject([
    { verdict: 'inconclusive', pairs: 1, metrics: { commands: { ratio: expect.closeTo(1 / 3) } } },
  ])
  const readme = readDocument('examples/README.md').text
  const rows = summary.cases.map(({ agent, metrics }) => {
    const percent = (share: number | null): string => `${Math.round((share ?? Number.NaN) * 100)}%`
    return `| ${agent} | ${metrics.commands} | ${percent(metrics.errorRate)} | ${percent(metrics.firstTrySuccessRate)} | ${metrics.helpInvocations} |`
  })
  expect(rows.length).toBe(2)
  for (const row of rows) expect(readme).toContain(row)
})

/** From a heading to the next one of any level. */
function sectionOf(text: string, heading: string): string {
  const start = new RegExp(`^#+ ${heading}$`, 'm').exec(text)
  if (start === null) return ''
  const rest = text.slice(start.index + start[0].length)
  return rest.slice(0, /^#+ /m.exec(rest)?.index)
}

function lines(text: string): string[] {
  return text.split('\n').map(settled)
}

/** A printed line without what differs between two runs: times, run ids, and the room they take. */
function settled(line: string): string {
  return line
    .replaceAll(/\b\d+(\.\d+)?(ms|s)\b/g, 'TIME')
    .replaceAll(/run_\d{8}_\d{6}_[a-z0-9]{6}/g, 'RUN')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function withoutTime(line: string): string {
  return line.replace(/, \d+ ms$/, '')
}

function parseJson(line: string): unknown {
  return JSON.parse(line)
}
