import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { readAgentFile } from '../../../src/verifier/agent-file.ts'
import { testDocker } from '../../support/sandboxes.ts'
import { commitAll, git } from '../plan/lab.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { afterwards, only, runPath, taskRun } from './lab.ts'
import { openScriptedModel } from './model.ts'

const { dockerTest, dockerHost, image } = await testDocker()

/** A test that is skipped where no Docker Engine runs. */
export const inDocker: typeof dockerTest = dockerTest
const examples = join(import.meta.dirname, '../../../examples/task')

export const stories = {
  python: { attempts: 1, replans: 0, changed: ['slugs/slugify.py', 'tests/test_slugify.py'] },
  typescript: { attempts: 2, replans: 0, changed: ['src/parse-duration.ts', 'test/parse-duration.test.ts'] },
  c: { attempts: 4, replans: 1, changed: ['src/roman.c', 'test/test_roman.c'] },
} as const

/** The story of an example, as its README tells it. */
export async function plays(language: keyof typeof stories, sandbox: string): Promise<void> {
  const { attempts, replans, changed } = stories[language]
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
  const touched = git(project, 'diff', '--name-only')
  expect(touched.trim().split('\n')).toEqual(changed)
  // What a step wrote is gone: only the Editor's work and ignored files are left.
  expect(git(project, 'status', '--porcelain', '--ignored')).not.toMatch(/__pycache__|build/)
}

/** With the image that the tests have; the example names one that anybody can get. */
export function copyOf(language: string): TestProject {
  const project = makeProject()
  afterwards(() => project[Symbol.dispose]())
  cpSync(join(examples, language), project.dir, { recursive: true })
  project.write({
    'agent.yaml': project.read('agent.yaml').replace(/container_image: \S+/, `container_image: ${image}`),
  })
  commitAll(project)
  return project
}

export function taskIn(language: string): string {
  const readme = readFileSync(join(examples, language, 'README.md'), 'utf8')
  return /gantry task run "([^"]+)"/.exec(readme)?.[1] ?? ''
}
