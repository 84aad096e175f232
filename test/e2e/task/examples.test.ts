import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readAgentFile } from '../../../src/verifier/agent-file.ts'
import { program } from '../../support/program.ts'
import { testDocker } from '../../support/sandboxes.ts'
import { commitAll, git } from '../plan/lab.ts'
import { gantry, startGantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { afterwards, envOf, only, runPath, taskRun } from './lab.ts'
import { openScriptedModel } from './model.ts'

const { dockerTest, dockerHost, image } = await testDocker()
const examples = join(import.meta.dirname, '../../../examples/task')

const stories = {
  python: { attempts: 1, replans: 0, changed: ['slugs/slugify.py', 'tests/test_slugify.py'] },
  typescript: { attempts: 2, replans: 0, changed: ['src/parse-duration.ts', 'test/parse-duration.test.ts'] },
  c: { attempts: 4, replans: 1, changed: ['src/roman.c', 'test/test_roman.c'] },
} as const

for (const [language, story] of Object.entries(stories)) {
  test.concurrent(`the example in ${language} goes as its README says, in bubblewrap`, () =>
    plays(language, story, 'bubblewrap'))
  dockerTest.concurrent(`the example in ${language} goes as its README says, in Docker`, () =>
    plays(language, story, 'docker'),
  )
  test.concurrent(`the example in ${language} is red before its task is done`, async () => {
    const project = copyOf(language)
    const { code, stdout } = await gantry(project, ['verify', '--sandbox', 'bubblewrap'])
    expect(code, stdout).toBe(1)
  })
}

async function plays(
  language: string,
  { attempts, replans, changed }: (typeof stories)[keyof typeof stories],
  sandbox: string,
): Promise<void> {
  const project = copyOf(language)
  const model = await openScriptedModel(project.read('model.yaml'))
  const argv = [taskIn(language), '--sandbox', sandbox]
  const run = await taskRun(project, model, argv, { env: { DOCKER_HOST: dockerHost } })
  expect(run.code, run.stdout + run.stderr).toBe(0)
  expect(run.end).toMatchObject({ state: 'SUCCESS', attempts, replans })
  const last = run.end.run_ids.at(-1) ?? ''
  const log = readFileSync(runPath(project, last, 'logs', 'combined.log'), 'utf8')
  for (const { command } of readAgentFile(project.dir).file.verification.steps) expect(log).toContain(command)
  expect(only(run, 'verifier_result').map(({ status }) => status)).toEqual([
    ...Array<string>(attempts - 1).fill('FAIL'),
    'PASS',
  ])
  const touched = git(project, 'diff', '--name-only', '--', ':!.gitignore')
  expect(touched.trim().split('\n')).toEqual(changed)
  // What a step wrote is gone: only the Editor's work is there, and what Git was told to leave out.
  expect(git(project, 'status', '--porcelain', '--ignored')).not.toMatch(/__pycache__|build/)
}

test.concurrent('the command of a README can be pasted', async () => {
  const project = copyOf('python')
  const argv = [
    'boundary',
    'serve',
    '--script',
    'model.yaml',
    '--',
    ...ownProgram(),
    'task',
    'run',
    '--sandbox',
    'bubblewrap',
  ]
  const { ended } = startGantry(project, [...argv, taskIn('python')], { env: envOf(project, null) })
  const { code, stdout, stderr } = await ended
  expect(code, stdout + stderr).toBe(0)
  expect(stdout).toContain('# Task Completed')
  expect(stderr).toContain('5 exchanges')
})

function ownProgram(): readonly string[] {
  return [process.execPath, program]
}

/** With the image that the tests have; the example names one that anybody can get. */
function copyOf(language: string): TestProject {
  const project = makeProject()
  afterwards(() => project[Symbol.dispose]())
  cpSync(join(examples, language), project.dir, { recursive: true })
  project.write({
    'agent.yaml': project.read('agent.yaml').replace(/container_image: \S+/, `container_image: ${image}`),
  })
  commitAll(project)
  return project
}

function taskIn(language: string): string {
  const readme = readFileSync(join(examples, language, 'README.md'), 'utf8')
  return /gantry task run "([^"]+)"/.exec(readme)?.[1] ?? ''
}
