import { expect, test } from 'vitest'
import { program } from '../../support/program.ts'
import { gantry, startGantry } from '../support/gantry.ts'
import { copyOf, inDocker, plays, taskIn } from './example-story.ts'
import { envOf } from './lab.ts'

test.concurrent.each(['python', 'typescript', 'c'] as const)(
  'the example in %s goes as its README says, in bubblewrap',
  (language) => plays(language, 'bubblewrap'),
)

inDocker('the example in python goes as its README says, in Docker; the others are in the long suite', () =>
  plays('python', 'docker'),
)

test.concurrent.each(['python', 'typescript', 'c'])(
  'the example in %s is red before its task is done',
  async (language) => {
    const { code, stdout } = await gantry(copyOf(language), ['verify', '--sandbox', 'bubblewrap'])
    expect(code, stdout).toBe(1)
  },
)

test.concurrent('the command of a README can be pasted', async () => {
  const project = copyOf('python')
  const argv = [
    'boundary',
    'serve',
    '--script',
    'model.yaml',
    '--',
    ...[process.execPath, program],
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
