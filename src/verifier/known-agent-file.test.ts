import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { describe, expect, it } from 'vitest'
import { readAgentFile } from './agent-file.ts'
import { readKnownAgentFile } from './known-agent-file.ts'

const text = (command: string): string =>
  `verification:\n  container_image: node:24\n  steps: [{ name: test, command: ${command} }]\n`

async function lab(content: string) {
  const fixture = await createFixture({ 'repository/agent.yaml': content })
  const [repository, home] = [fixture.getPath('repository'), fixture.getPath('guard')]
  return {
    repository,
    read: (program: string | null = 'one.js') =>
      readKnownAgentFile(repository, { GANTRY_GUARD_HOME: home }, undefined, program),
    write: (next: string) => writeFileSync(join(repository, 'agent.yaml'), next),
    known: (): string => join(home, 'agent-files', readdirSync(join(home, 'agent-files'))[0] ?? ''),
  }
}

describe('readKnownAgentFile', () => {
  it('gives the same the second time as the first time, without reading the YAML again', async () => {
    const { repository, read, known } = await lab(text('npm test'))
    const first = await read()
    expect(first).toEqual(readAgentFile(repository))
    expect(await read()).toEqual(first)
    writeFileSync(known(), readFileSync(known(), 'utf8').replace('npm test', 'npm remembered'))
    expect((await read()).file.verification.steps[0]?.command).toBe('npm remembered')
  })

  it('reads the file again when it or Gantry has changed', async () => {
    const { read, write, known } = await lab(text('npm test'))
    await read()
    writeFileSync(known(), readFileSync(known(), 'utf8').replace('npm test', 'npm remembered'))
    expect((await read('two.js')).file.verification.steps[0]?.command).toBe('npm test')
    write(text('npm run other'))
    expect((await read('two.js')).file.verification.steps[0]?.command).toBe('npm run other')
  })

  it('refuses a git that is too old, also one that was installed since', async () => {
    const { repository, read } = await lab(text('npm test'))
    await using bin = await createFixture({ git: '#!/bin/sh\necho git version 2.31.8\n' })
    chmodSync(bin.getPath('git'), 0o755)
    await read()
    const env = { GANTRY_GUARD_HOME: join(repository, '../guard'), PATH: bin.path }
    await expect(readKnownAgentFile(repository, env, undefined, 'one.js')).rejects.toMatchObject({
      message: 'git 2.31.8 is too old: Gantry needs git 2.32 or newer',
      hint: 'Install a newer git, and put it first on the PATH.',
    })
  })

  it('remembers nothing where the code has no name of its own, and nothing about a package', async () => {
    const { repository, read, write, known } = await lab(text('npm test'))
    await read(null)
    expect(known).toThrow()
    mkdirSync(join(repository, 'web'))
    write(`${text('npm test')}monorepo: { package: web }\n`)
    expect((await read()).file.package).toBe('web')
    expect(known).toThrow()
  })

  it('reads the file where nothing can be remembered, and reports a wrong one each time', async () => {
    const { repository, read, write } = await lab(text('npm test'))
    const blocked = { GANTRY_GUARD_HOME: join(repository, 'agent.yaml') }
    const { file } = await readKnownAgentFile(repository, blocked, undefined, 'one.js')
    expect(file.verification.steps).toHaveLength(1)
    await read()
    write('verification: 3\n')
    await expect(read()).rejects.toThrow(/agent\.yaml:1/)
    await expect(read()).rejects.toThrow(/agent\.yaml:1/)
  })
})
