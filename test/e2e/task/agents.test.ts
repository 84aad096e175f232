import { expect, test } from 'vitest'
import { makeRepository, only, sum, task, taskRun, tested } from './lab.ts'
import { openModel } from './model.ts'

test.concurrent('any agent can be the Editor: a scripted one by its file, with the guard on it', async () => {
  const model = await openModel()
  const project = makeRepository({
    files: {
      'editor.yaml': {
        name: 'editor',
        version: '1',
        scripts: [
          {
            when: { attempt: 1 },
            turns: [{ write: { path: '../outside.txt', content: 'x' } }, sum('*'), tested()],
          },
        ],
        turns: [sum('+'), { say: 'The sign is right now.' }],
      },
    },
  })
  const run = await taskRun(project, model, ['--agent', 'scripted:editor.yaml'])
  expect(run.end, run.stderr).toMatchObject({ state: 'SUCCESS', attempts: 2 })
  expect(only(run, 'task_started')).toMatchObject([{ agent: 'scripted:editor.yaml' }])
  expect(model.answered).toEqual(['scout_a', 'scout_b', 'diagnosis'])
  expect(run.end.summary).toContain('The sign is right now.')
  expect(() => project.read('../outside.txt')).toThrow('ENOENT')
})

test.concurrent('an agent of gantry.yaml, with a model of its own', async () => {
  const model = await openModel()
  const project = makeRepository({
    files: {
      'gantry.yaml': { agents: { mine: { driver: 'builtin', model_script: 'model.yaml' } } },
      'model.yaml': { turns: [{ calls: [sum('+'), tested()] }, { text: 'Done.' }] },
    },
  })
  const run = await taskRun(project, model, ['--agent', 'mine'])
  expect(run.end, JSON.stringify(run.end)).toMatchObject({ state: 'SUCCESS', attempts: 1 })
  expect(model.answered).toEqual(['scout_a', 'scout_b'])
})

test.concurrent('an agent that is not there is refused before anything is spent', async () => {
  const model = await openModel()
  const project = makeRepository()
  const { code, stderr } = await task(project, model, [
    'run',
    '--sandbox',
    'bubblewrap',
    '--agent',
    'nobody',
    'Fix the sum.',
  ])
  expect(code).toBe(2)
  expect(stderr).toContain('nobody')
  expect(model.asked).toEqual([])
})

test.concurrent('an agent that changes nothing gets a warning, and the task ends as NO_CHANGE', async () => {
  const model = await openModel()
  const project = makeRepository({ steps: ['sh check.sh'] })
  const run = await taskRun(project, model)
  expect(run.end).toMatchObject({ state: 'NO_CHANGE', attempts: 0 })
  expect(run.code).toBe(1)
  expect(only(run, 'note').some(({ message }) => message.includes('the tree is unchanged'))).toBe(true)
  const refused = model.prompts.filter(
    ({ role, text }) => role === 'editor' && text.includes('Your last turn left'),
  )
  expect(refused.length).toBeGreaterThan(0)
})
