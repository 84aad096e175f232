import { expect } from 'vitest'
import { readAgentFile } from '../../../src/verifier/agent-file.ts'
import { needs } from '../../support/needs.ts'
import { testDocker } from '../../support/sandboxes.ts'
import { gantry } from '../support/gantry.ts'
import { makeProject } from '../support/project.ts'
import { hasInImage, hasOnMachine, newcomersPass } from './newcomer.conformance.ts'

const bwrap = needs('bubblewrap', hasOnMachine('bwrap'))
const { dockerTest, dockerHost, image } = await testDocker()

newcomersPass({ sandbox: 'bubblewrap', on: bwrap, has: hasOnMachine })
newcomersPass(
  { sandbox: 'docker', on: dockerTest, image, env: { DOCKER_HOST: dockerHost }, has: hasInImage },
  (name) => /^npm|^uv|^CMake|^cargo|^Meson/.test(name),
)

bwrap('a red test stays in the file, and is shown', async () => {
  using project = makeProject({ 'package.json': '{"scripts": {"test": "echo it is broken; exit 4"}}' })
  const { code, stdout } = await gantry(project, ['init', '--yes', '--sandbox', 'bubblewrap'])
  expect(code).toBe(1)
  expect(stdout).toContain('it is broken')
  expect(stdout).toContain('Correct the file, then run: gantry verify')
  expect(readAgentFile(project.dir).file.verification.steps[0]?.command).toBe('npm test')
})

bwrap('setup runs once for attempts that change only the steps', async () => {
  using project = makeProject({
    'package.json': JSON.stringify({
      name: 'app',
      scripts: { build: 'mkdir dist && touch dist/add.cjs', test: 'node -e "require(\'./dist/add.cjs\')"' },
      dependencies: { dep: 'file:./dep' },
    }),
    'package-lock.json': JSON.stringify({
      lockfileVersion: 3,
      packages: {
        '': { name: 'app', dependencies: { dep: 'file:./dep' } },
        dep: { version: '1.0.0' },
        'node_modules/dep': { resolved: 'dep', link: true },
      },
    }),
    'dep/package.json': '{"name": "dep", "version": "1.0.0"}',
  })
  const { code, stdout } = await gantry(project, ['init', '--yes', '--sandbox', 'bubblewrap'])
  expect(code, stdout).toBe(0)
  expect(stdout.match(/\$ npm test/g)).toHaveLength(2)
  expect(stdout.match(/\$ npm ci/g)).toHaveLength(1)
})
