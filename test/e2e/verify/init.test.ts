import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { expect } from 'vitest'
import { findProgram } from '../../../src/io/find-program.ts'
import { readAgentFile } from '../../../src/verifier/agent-file.ts'
import { needs } from '../../support/needs.ts'
import { testDocker } from '../../support/sandboxes.ts'
import { gantry } from '../support/gantry.ts'
import { makeProject } from '../support/project.ts'
import { commitAll, verifyJson } from './lab.ts'

const bwrap = needs('bubblewrap', findProgram('bwrap', process.env.PATH ?? '') !== null)
const { dockerTest, dockerHost, image } = await testDocker()

/** A repository of npm with a runner of its own, as it is after `git clone`. */
function npmProject() {
  const project = makeProject({
    'package.json': JSON.stringify({
      ...{ name: 'n', version: '1.0.0', scripts: { test: 'runner' } },
      devDependencies: { runner: 'file:runner-1.0.0.tgz' },
    }),
    'runner/package.json': JSON.stringify({ name: 'runner', version: '1.0.0', bin: { runner: 'run.js' } }),
    'runner/run.js': '#!/usr/bin/env node\nconsole.log("      Tests  2 passed (2)")\n',
    '.gitignore': 'node_modules\n',
  })
  const npm = (...args: readonly string[]) => execFileSync('npm', args, { cwd: project.dir, stdio: 'ignore' })
  npm('pack', './runner')
  npm('install', '--no-audit', '--offline')
  for (const name of ['node_modules', 'runner']) rmSync(project.path(name), { recursive: true })
  commitAll(project.dir)
  return project
}

async function initAndVerify(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  using project = npmProject()
  const init = await gantry(project, ['init', '--yes', ...argv], { env })
  const { setup = [], steps } = readAgentFile(project.dir).file.verification
  const sandbox = argv.slice(argv.indexOf('--sandbox'), argv.indexOf('--sandbox') + 2)
  const { status, result } = await verifyJson(project, sandbox, { env })
  return {
    ...init,
    commands: [...setup, ...steps].map(({ command }) => command),
    status,
    stderr: result.stderr,
  }
}

bwrap('on bubblewrap a fresh clone is installed and passes at once', async () => {
  const { code, stdout, commands, status, stderr } = await initAndVerify(['--sandbox', 'bubblewrap'])
  expect({ code, status, commands }, stdout).toEqual({
    code: 0,
    status: 'PASS',
    commands: ['npm ci', 'npm test'],
  })
  expect(stdout).toContain('Every step was tried and passes')
  // What was installed while trying is used.
  expect(stderr).toContain('setup: nothing has changed since it last ran')
})

dockerTest('with Docker a fresh clone is installed and passes at once', async () => {
  const argv = ['--sandbox', 'docker', '--image', image]
  const { code, stdout, commands, status } = await initAndVerify(argv, { DOCKER_HOST: dockerHost })
  expect({ code, status, commands }, stdout).toEqual({
    code: 0,
    status: 'PASS',
    commands: ['npm ci', 'npm test'],
  })
})

bwrap('a red test stays in the file, and is shown', async () => {
  using project = makeProject({ 'package.json': '{"scripts": {"test": "echo it is broken; exit 4"}}' })
  const { code, stdout } = await gantry(project, ['init', '--yes', '--sandbox', 'bubblewrap'])
  expect(code).toBe(1)
  expect(stdout).toContain('it is broken')
  expect(stdout).toContain('Correct the file, then run: gantry verify')
  expect(readAgentFile(project.dir).file.verification.steps[0]?.command).toBe('npm test')
})
