import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testDocker } from '../../test/support/sandboxes.ts'
import type { SandboxEngine } from '../sandboxes/contract.ts'
import { sandboxEngines } from '../sandboxes/index.ts'
import { createRun } from '../store/create-run.ts'
import { openStore } from '../store/open-store.ts'
import type { VerificationConfig } from './contract.ts'
import { verify } from './verify.ts'

const { dockerTest, env, image } = await testDocker()

let base = ''
let repository = ''
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-setup-')))
  repository = join(base, 'repository')
  mkdirSync(repository)
  execFileSync('git', ['init', '-q'], { cwd: repository })
  file('.gitignore', 'node_modules\n')
  file('package-lock.json', '{}')
  file('source.txt', 'good\n')
  mkdirSync(join(repository, 'docs'))
  file('docs/a.txt', 'a')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const file = (name: string, text: string): void => writeFileSync(join(repository, name), text)

/** Installs a checker into the workspace and into a cache, and counts how often. */
const setup = [
  {
    name: 'install',
    command:
      'mkdir -p node_modules/.bin && printf "#!/bin/sh\\ngrep -q good source.txt\\n" > node_modules/.bin/check && chmod +x node_modules/.bin/check && cp node_modules/.bin/check /tmp/cache/check && echo installed > ~/note && for f in sour*.txt; do echo overwritten > $f; done; rm -r docs',
    timeoutMs: 600_000,
    network: 'none' as const,
  },
]

async function run(engine: SandboxEngine, steps: readonly string[], isUntouched = false) {
  const store = openStore({ env: {}, cwd: base, root: join(base, 'store') })
  const config: VerificationConfig = {
    image,
    setup,
    steps: steps.map((command) => ({ name: 's', command, timeoutMs: 600_000 })),
    workspace: 'overlay',
    network: 'none',
    limits: { memoryBytes: 1024 ** 3, cpus: 2, pids: 200, diskBytes: 2 * 1024 ** 3 },
    env: {},
    caches: [{ name: 'tools', path: '/tmp/cache' }],
  }
  const { status, manifest, tail_log } = await verify({
    ...{ repository, config, engine, isUntouched, cachesDir: join(base, 'caches') },
    run: createRun(store, { kind: 'verify', title: 'v', argv: [], cwd: repository }),
    env: { ...env, XDG_CACHE_HOME: join(base, 'xdg') },
    signal: new AbortController().signal,
  })
  const ran = manifest?.commands_executed?.map(({ name }) => name).join()
  return { status, ran, tail_log, rewritten: manifest?.details?.rewritten }
}

async function story(engine: SandboxEngine): Promise<void> {
  // A run that fails keeps the layer only if no agent has changed the tree.
  expect(await run(engine, ['exit 1'])).toMatchObject({ status: 'FAIL', ran: 'install,s' })
  expect(await run(engine, ['exit 1'], true)).toMatchObject({ status: 'FAIL', ran: 'install,s' })
  expect(await run(engine, ['exit 1'])).toMatchObject({ status: 'FAIL', ran: 's' })
  file('package-lock.json', '{}\n')
  const both = ['check', '/tmp/cache/check', 'cat ~/note']
  expect(await run(engine, both)).toMatchObject({ status: 'PASS', ran: 'install,s,s,s' })
  // The layer is used again, and does not hide the repository.
  expect(await run(engine, both)).toMatchObject({ status: 'PASS', ran: 's,s,s' })
  file('source.txt', 'bad\n')
  expect(await run(engine, both)).toMatchObject({ status: 'FAIL', ran: 's' })
  // Neither a step nor a run that fails can change what the next one finds.
  const cheat = 'for f in node_modules/.bin/check /tmp/cache/check; do printf "#!/bin/sh\\n" > $f; done'
  expect(await run(engine, [cheat, 'check', 'exit 1'])).toMatchObject({ status: 'FAIL', ran: 's,s,s' })
  expect(await run(engine, [cheat])).toMatchObject({ status: 'PASS', ran: 's' })
  expect(await run(engine, ['check'])).toMatchObject({ status: 'FAIL' })
  expect(await run(engine, ['/tmp/cache/check'])).toMatchObject({ status: 'FAIL' })
  // What steps have changed is known, but not what setup has.
  const change =
    'echo more >> source.txt; rm -r docs; echo x > new.txt; touch package-lock.json; echo "{ };" > package-lock.json'
  expect(await run(engine, ['cat docs/a.txt', change])).toMatchObject({
    status: 'PASS',
    rewritten: ['docs/a.txt', 'source.txt'],
  })
  // A lock file decides.
  file('package-lock.json', '{ }')
  expect(await run(engine, ['true'])).toMatchObject({ status: 'PASS', ran: 'install,s' })
}

test('setup is a layer that a lock file decides about, on bubblewrap', () => story(sandboxEngines.bubblewrap))

dockerTest('setup is a layer that a lock file decides about, on Docker', () => story(sandboxEngines.docker))
