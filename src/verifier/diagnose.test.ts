import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import type { SandboxName } from '../sandboxes/contract.ts'
import { diagnose } from './diagnose.ts'

const failed = (command: string, exit_code: number) => ({ command, exit_code })

async function hint(
  files: Record<string, string>,
  command: string,
  exitCode: number,
  output: string,
  setup: string[] = [],
  engine: SandboxName = 'docker',
) {
  await using fixture = await createFixture(files)
  const config = {
    ...{ image: 'x:1', engine },
    setup: setup.map((one) => ({ name: 'install', command: one, timeoutMs: 1 })),
  }
  return diagnose(failed(command, exitCode), output, config, fixture.path)?.hint ?? null
}

test('a program of packages that are not installed: the line that installs them', async () => {
  const files = { 'package.json': '{}', 'package-lock.json': '{}' }
  expect(await hint(files, 'npm test', 127, 'sh: 1: vitest: not found\n')).toContain(
    '- { name: install, command: "npm ci" }',
  )
  const missing = "Error: Cannot find module 'left-pad'\n"
  expect(await hint(files, 'node test.js', 1, missing)).toContain('npm ci')
  expect(await hint(files, 'node test.js', 1, missing, ['npm ci'])).toBeNull()
  const python = "ModuleNotFoundError: No module named 'click'\n"
  expect(await hint({ 'uv.lock': '', 'pyproject.toml': '' }, 'pytest', 1, python)).toContain(
    'uv sync --frozen',
  )
})

test('a missing compiler: an image that has one, or the package to install', async () => {
  const text = await hint(
    { 'Cargo.toml': '', 'Cargo.lock': '' },
    'cargo build',
    101,
    'error: linker `cc` not found\n',
  )
  expect(text).toContain('container_image: rust:1')
  expect(text).toContain('build-essential')
  expect(await hint({ Makefile: '' }, 'make', 127, '/bin/sh: 1: make: not found\n')).toContain(
    'There is no make',
  )
})

test('exit code 127 names the program; a plain failure has no hint', async () => {
  expect(await hint({}, 'frobnicate', 127, '/bin/sh: 1: frobnicate: not found\n')).toContain(
    'The program frobnicate is not in the sandbox (x:1)',
  )
  const here = await hint({}, 'frobnicate', 127, '/bin/sh: 1: frobnicate: not found\n', [], 'bubblewrap')
  expect(here).toContain('The program frobnicate is not in the directories of this machine')
  expect(here).not.toContain('x:1')
  expect(await hint({ 'package.json': '{}' }, 'npm test', 1, '1 failed\n')).toBeNull()
})

test.each([
  ['killed at 128m of memory', 'limits: { memory: 256m }'],
  ['killed at 1.5g of memory', 'limits: { memory: 3g }'],
  ['killed at 2g of disk', 'limits: { disk: 4g }'],
])('a step that was %s: the limit to raise, at twice its size', (killed, line) => {
  const step = { ...failed('npm test', 137), killed }
  expect(diagnose(step, '', { image: 'x:1', engine: 'docker' }, '/')?.hint).toContain(line)
})

test('a file that a build makes, and a step that needs the network', async () => {
  const files = { 'package.json': '{"scripts": {"build": "tsc"}}' }
  const missing = "Error: Cannot find module '/workspace/dist/index.js'\n"
  expect(await hint(files, 'npm test', 1, missing)).toContain('command: "npm run build"')
  expect(await hint({}, 'make test', 2, 'getaddrinfo EAI_AGAIN registry\n')).toContain('network: allow')
})

test('an installation that printed nothing until its time was over has no network, and lacks no program', () => {
  const config = { image: 'x:1', setup: [{ command: 'npm ci' }], steps: [{ command: './check' }] }
  const known = diagnose({ ...failed('npm ci', 124), index: 0 }, '\n', config, '/')
  expect(known?.hint).toContain('this machine has no network, or needs a mirror')
  expect(diagnose({ ...failed('./check', 1), index: 1 }, '', config, '/')).toBeNull()
  expect(diagnose({ ...failed('./check', 124), index: 1 }, '', config, '/')).toBeNull()
})

test.each([
  'Error: Failed to resolve entry for package "@acme/core". The package may have incorrect main/module/exports',
  'Error: Cannot find module \'/workspace/node_modules/core/dist/a.js\'. Please verify that the package.json has a valid "main" entry',
])('a package of the workspace that is not built: %s', async (output) => {
  const files = { 'package.json': '{"scripts": {"build": "pnpm -r build"}}', 'pnpm-lock.yaml': '' }
  expect(await hint(files, 'pnpm -r test', 1, output, ['pnpm install'])).toContain('"pnpm run build"')
})

test('a build is no hint when its step is there, or when what is missing exists', async () => {
  await using fixture = await createFixture({ 'package.json': '{"scripts":{"build":"x"}}', 'test/a.js': '' })
  const hintFor = (name: string, steps: readonly { readonly command: string }[] = []) => {
    const output = `Error: Cannot find module '/workspace/${name}'\n`
    return diagnose(failed('npm test', 1), output, { image: 'x:1', steps }, fixture.path)?.buildFirst
  }
  expect(hintFor('dist/a.js')).toBe('npm run build')
  expect(hintFor('dist/a.js', [{ command: 'npm run build' }])).toBeUndefined()
  const globbed = "Could not find '/workspace/dist/**/*.test.js'\n"
  expect(diagnose(failed('npm test', 1), globbed, { image: 'x:1' }, fixture.path)?.buildFirst).toBe(
    'npm run build',
  )
  // Node 24 takes a directory for a file.
  expect(hintFor('test')).toBeUndefined()
})

const unreachable: readonly (readonly [command: string, output: string, line: string])[] = [
  ['npm ci', 'npm error code EAI_AGAIN\n', 'npm_config_registry'],
  ['pnpm install', 'request failed, reason: connect ECONNREFUSED 127.0.0.1:1\n', 'npm_config_registry'],
  [
    'pip install -r r.txt',
    "ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 502'))\n",
    'PIP_INDEX_URL',
  ],
  ['uv sync', 'error: error sending request for url (https://a/simple/six/)\n', 'UV_DEFAULT_INDEX'],
  [
    'cargo fetch',
    '[56] Failure when receiving data from the peer (CONNECT tunnel failed, response 502)\n',
    '.cargo/config.toml',
  ],
  ['go mod download', 'dial tcp: lookup a on [::1]:53: read: connection refused\n', 'GOPROXY'],
  ['mvn -B dependency:go-offline', 'Could not transfer artifact a:b:pom:1 from/to central\n', 'MAVEN_ARGS'],
  [
    'python3 -m venv ~/.local && ~/.local/bin/pip install uv',
    "ProxyError('Cannot connect to proxy.')\n",
    'PIP_INDEX_URL',
  ],
  ['npm install --global --prefix ~/.local bun', 'npm error code EAI_AGAIN\n', 'npm_config_registry'],
  [
    'go mod download',
    'Get "https://p.example/m.mod": p.example has no address, or is this machine\n',
    'GOPROXY',
  ],
  ['./mvnw -B dependency:go-offline', 'curl: (22) The requested URL returned error: 502\n', 'MAVEN_ARGS'],
  ['./mvnw -B dependency:go-offline', 'curl: Failed to fetch https://a/maven-bin.zip\n', 'MVNW_REPOURL'],
  ['mvn -B test', 'Could not transfer artifact a:b:pom:1 from/to central\n', '.mvn/maven.config'],
  ['./fetch.sh', 'curl: (6) Could not resolve host: a\n', 'https_proxy'],
]

test.each(unreachable)(
  'setup that cannot reach a registry: how %s gets a mirror, or that it has no network',
  (command, output, line) => {
    const setup = [{ command }]
    const step = { ...failed(command, 1), index: 0 }
    const open = diagnose(step, output, { image: 'x:1', setup }, '/')
    expect(open?.hint).toContain('this machine has no network, or needs a mirror')
    expect(open?.hint).toContain(line)
    // A service that a test misses on the loopback is not a registry.
    if (/ECONNREFUSED/.test(output))
      expect(diagnose({ ...step, index: 1 }, output, { image: 'x:1', setup }, '/')).toBeNull()
    if (!/EAI_AGAIN|lookup|resolve/.test(output)) return
    const closed = diagnose(step, output, { image: 'x:1', setup: [{ command, network: 'none' }] }, '/')
    expect(closed?.hint).toContain(`command: ${JSON.stringify(command)}, network: allow }`)
  },
)
