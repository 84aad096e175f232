// npm run demo: two scripted agents try the same three scenarios; workspaces, commands, gates and the report are real. Then the
// guard, a coding task, plugins, and a real agent if one is installed.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { demoGuard } from './demo-guard.ts'
import { demoPlugin } from './demo-plugin.ts'
import { demoRealAgent } from './demo-real-agent.ts'
import { demoTask } from './demo-task.ts'

const root = join(import.meta.dirname, '..')
const store = mkdtempSync(join(tmpdir(), 'gantry-demo-'))
const page = join(store, 'report.html')
const results = join(store, 'results.json')

console.log(`
Gantry demo: can an agent use the note keeper "jot" from its documentation?

Two agents try the three scenarios of examples/jot. "careful" reads the documentation, "hasty" guesses and says "done". Both are
scripted, so no key is needed; the commands they run, the files they change and the gates that judge them are real.

$ gantry test --agent careful,hasty --repeat 2 --judge-model scripted:judge.yaml --reporter html:…
`)

const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'src/bin.ts'),
    'test',
    '--agent',
    'careful,hasty',
    '--repeat',
    '2',
    '--judge-model',
    'scripted:judge.yaml',
    '--reporter',
    'console',
    '--reporter',
    `html:${page}`,
    '--reporter',
    `json:${results}`,
  ],
  {
    cwd: join(root, 'examples/jot'),
    stdio: 'inherit',
    env: { ...process.env, AGENT_ARTIFACT_DIR: store },
  },
)

// The demo fails when Gantry no longer tells good from bad.
const { trials } = JSON.parse(readFileSync(results, 'utf8'))
const found = tally(trials)
const expected = { careful: { pass: 6, fail: 0 }, hasty: { pass: 1, fail: 5 } }
const asExpected = status === 1 && JSON.stringify(found) === JSON.stringify(expected)

console.log(`
${asExpected ? 'As expected: "careful" passed everything. "hasty" claimed success every time and passed only once, when it was true.' : `Something is wrong: expected ${JSON.stringify(expected)} and exit 1, found ${JSON.stringify(found)} and exit ${status}.`}

The same as a page, with every transcript:  ${page}
`)
const guardAsExpected = await demoGuard(store)
const taskAsExpected = await demoTask(store)
const pluginAsExpected = demoPlugin(store)
const realAgentAsExpected = demoRealAgent(store)
console.log(`All files of the runs:  ${store}
Next: README.md, or "bin/gantry scenario new my-first --target TOOL" in a project of yours.
`)
process.exitCode = [asExpected, guardAsExpected, taskAsExpected, pluginAsExpected, realAgentAsExpected].every(
  Boolean,
)
  ? 0
  : 1

function tally(
  records: readonly { agent: string; verdict: string }[],
): Record<string, { pass: number; fail: number }> {
  const count = (agent: string, verdict: string): number =>
    records.filter((record) => record.agent === agent && record.verdict === verdict).length
  return Object.fromEntries(
    ['careful', 'hasty'].map((agent) => [agent, { pass: count(agent, 'pass'), fail: count(agent, 'fail') }]),
  )
}
