// Part of the demo: a coding task. The model is the script of the example; the edits, the sandbox and the tests are real.
import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { sandboxEngines } from '../src/sandboxes/index.ts'

const root = join(import.meta.dirname, '..')
const program = [process.execPath, join(root, 'src/bin.ts')]
const text = 'parseDuration must also take several units, such as 1h30m.'

/** Returns whether the task failed, was debugged and passed. */
export async function demoTask(store: string): Promise<boolean> {
  const sandbox = await engine()
  console.log(`
A coding task: is it done when the agent says so?

A copy of examples/task/typescript has a test that fails. Two Scouts look at the code, the Editor changes it, and the steps of agent.yaml
decide. The model behind all three is a script: its first change is wrong, and the tests find it out.
${sandbox.why}
$ gantry task run --apply "${text}"
`)
  const scene = openScene(store)
  if (scene === null) {
    console.log('Skipped: the part with a task, because git is not installed.\n')
    return true
  }
  const { stdout, stderr, status } = scene.run([
    ...['boundary', 'serve', '--script', 'model.yaml', '--', ...program],
    ...['task', 'run', '--apply', '--sandbox', sandbox.name, text],
  ])
  console.log(indented(stdout))
  const { tasks }: { tasks: { state: string; current_attempt: number; run_ids: string[] }[] } = JSON.parse(
    scene.run(['task', 'list', '--json']).stdout,
  )
  const [task] = tasks
  const tested = scene.runTests()
  const asExpected =
    status === 0 &&
    task?.state === 'SUCCESS' &&
    task.run_ids.length === 2 &&
    /FAIL run_[\s\S]*PASS run_/.test(stdout) &&
    tested
  console.log(
    asExpected
      ? '\nAs expected: failed, debugged, passed. The change is in the working tree, for you to commit.\nIn your own repository: bin/gantry task run "…". More: docs/task.md.\n'
      : `\nSomething is wrong: exit ${status}, ${JSON.stringify(task)}\n${stderr}\n`,
  )
  return asExpected
}

/** The sandbox of the steps, with a warning when there is none. */
async function engine(): Promise<{ readonly name: 'bubblewrap' | 'host'; readonly why: string }> {
  const { usable, detail } = await sandboxEngines.bubblewrap.probe({
    env: { PATH: process.env.PATH ?? '' },
    signal: AbortSignal.timeout(10_000),
  })
  return usable
    ? { name: 'bubblewrap', why: 'The steps run in bubblewrap, with the repository read-only.' }
    : {
        name: 'host',
        why: `The steps run WITHOUT A SANDBOX here, with --sandbox host: bubblewrap cannot be used (${detail}).`,
      }
}

function openScene(store: string) {
  const project = join(store, 'task')
  cpSync(join(root, 'examples/task/typescript'), project, { recursive: true })
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: store,
    AGENT_ARTIFACT_DIR: join(store, 'tasks'),
    GANTRY_GUARD_HOME: join(store, 'guard'),
    GANTRY_GUARD_RESIDENT: 'off',
  }
  const start = (command: string, argv: readonly string[]) =>
    spawnSync(command, [...argv], { cwd: project, env, encoding: 'utf8' })
  const identity = ['-c', 'user.name=Demo', '-c', 'user.email=demo@example.com']
  if (start('git', ['init', '--quiet']).status !== 0) return null
  start('git', ['add', '--all'])
  start('git', [...identity, 'commit', '--quiet', '--message', 'Start'])
  return {
    run: (argv: readonly string[]) => {
      const [node = '', bin = ''] = program
      return start(node, [bin, ...argv])
    },
    /** Needs only Node. */
    runTests: (): boolean => start(process.execPath, ['--test', 'test/*.test.ts']).status === 0,
  }
}

function indented(printed: string): string {
  return printed
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`.trimEnd())
    .join('\n')
}
