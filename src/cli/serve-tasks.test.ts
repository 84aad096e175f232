import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openServerLab } from '../../test/support/server-lab.ts'
import { taskSubmitter } from './serve-tasks.ts'

const agentYaml = 'verification:\n  container_image: none\n  steps:\n    - { name: check, command: "true" }\n'

/** An ended task whose model and Editor are files. */
function ended(isHostAllowed = true) {
  const lab = openServerLab()
  const { queue, repository, root } = lab
  writeFileSync(join(root, 'model.yaml'), 'answers: [hello]\n')
  writeFileSync(join(root, 'editor.yaml'), 'name: e\nturns: []\n')
  const { id } = queue.submit({
    repository,
    description: 'Add a flag with a name.',
    dryRun: false,
    verbose: false,
    options: {
      agent: `scripted:${join(root, 'editor.yaml')}`,
      model: `scripted:${join(root, 'model.yaml')}`,
      sandbox: 'host',
    },
  })
  queue.claim()
  queue.end(id, { state: 'INFRA_ERROR', summary: null, error_message: 'x' })
  const env = { PATH: process.env.PATH, HOME: root }
  return {
    ...lab,
    id,
    submitter: taskSubmitter({ env, signal: new AbortController().signal }, queue, lab.store, isHostAllowed),
  }
}

test('a retry that cannot start is rejected with the reasons and not queued', async () => {
  const { submitter, id, queue } = ended()
  await expect(submitter.retry(id)).rejects.toThrow(/configuration required: .*agent\.yaml/)
  expect(queue.list({ states: ['QUEUED'] })).toEqual([])
})

test('a retry that can start is queued with the settings of the task', async () => {
  const { submitter, id, queue, repository } = ended()
  writeFileSync(join(repository, 'agent.yaml'), agentYaml)
  const { options } = await submitter.retry(id)
  expect(options).toMatchObject({ sandbox: 'host', retry: true })
  expect(queue.list({ states: ['QUEUED'] })).toHaveLength(1)
})

test('a submitted task lets the Editor ask for as long as its body says', async () => {
  const { submitter, repository, root } = ended()
  writeFileSync(join(repository, 'agent.yaml'), agentYaml)
  const { options } = await submitter.submit({
    ...{ repository, description: 'Add a flag.', dry_run: false, verbose: false },
    ...{ agent: `scripted:${join(root, 'editor.yaml')}`, model: `scripted:${join(root, 'model.yaml')}` },
    sandbox: 'host',
    questions: '1m',
  })
  expect(options).toMatchObject({ answer_timeout_ms: 60_000 })
  expect(options).not.toHaveProperty('questions')
})

test('a task without a sandbox is rejected unless the server allows it', async () => {
  const { submitter, id, queue, repository } = ended(false)
  writeFileSync(join(repository, 'agent.yaml'), agentYaml)
  await expect(submitter.retry(id)).rejects.toThrow('this server does no task without a sandbox')
  expect(queue.list({ states: ['QUEUED'] })).toEqual([])
})
