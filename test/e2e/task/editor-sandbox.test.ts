import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testDocker } from '../../support/sandboxes.ts'
import { nothingReached, prepareAttack } from './editor-attack.ts'
import { makeRepository, only, sum, taskRun, tested, write } from './lab.ts'
import { openModel } from './model.ts'

const { dockerTest, dockerHost } = await testDocker()

async function plays(agent: 'builtin' | 'scripted', argv: readonly string[], env = {}): Promise<void> {
  const project = makeRepository()
  const attack = await prepareAttack(project)
  const turns = [write('attack.pl', attack.program), { run: 'perl attack.pl' }, sum('+'), tested()]
  const model = await openModel({ edits: () => turns })
  const script = join(project.home, 'editor.yaml')
  writeFileSync(script, JSON.stringify({ name: 'editor', version: '1', turns }))
  const named = agent === 'builtin' ? [] : ['--agent', `scripted:${script}`]
  const run = await taskRun(project, model, [...named, ...argv], { env })
  expect(run.end, JSON.stringify(only(run, 'agent'))).toMatchObject({ state: 'SUCCESS' })
  const { looked, ...rest } = attack.result()
  expect(looked).toContain('HOME=')
  expect(looked).not.toMatch(/STOLEN|REACHED|ANTHROPIC/)
  expect(rest).toEqual(nothingReached)
}

for (const agent of ['builtin', 'scripted'] as const) {
  test(`commands of a ${agent} Editor see neither the home of the user nor the network`, () =>
    plays(agent, []))
  dockerTest(`so they do in Docker, with a ${agent} Editor`, () =>
    plays(agent, ['--sandbox', 'docker'], { DOCKER_HOST: dockerHost }),
  )
}
