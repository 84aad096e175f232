// Runs on whatever Node the machine has and depends on nothing: installs what is missing, then hands over to Node 24.
//   node scripts/bootstrap.mjs demo | test | all [vitest arguments…]
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const binaries = join(root, 'node_modules', '.bin')
const steps = {
  demo: [['node', 'scripts/demo.ts']],
  test: [
    ['node', 'scripts/check.ts', 'before-tests'],
    ['vitest', 'run', ...['pure', 'unit', 'slow', 'e2e*'].flatMap((name) => ['--project', name])],
    ['node', 'scripts/test-agents.ts', 'main'],
  ],
  all: [
    ['node', 'scripts/fetch-agents.ts', 'long'],
    ['node', 'scripts/start-sandboxes.ts'],
    ['vitest', 'run', '--project', 'long'],
    ['node', 'scripts/test-agents.ts', 'long'],
  ],
}

/** Runs after the steps, even when one fails, so that no engine keeps running. */
const stopSandboxes = [['node', 'scripts/start-sandboxes.ts', 'stop']]
const afterwards = { test: stopSandboxes, all: stopSandboxes }

const [name = '', ...extra] = process.argv.slice(2)
const wanted = steps[name]
if (wanted === undefined) {
  console.error(`usage: node scripts/bootstrap.mjs ${Object.keys(steps).join('|')}`)
  process.exit(2)
}

if (!installed()) {
  console.log('Installing dependencies (npm install) …')
  const status = run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'])
  if (status !== 0) process.exit(status)
}
for (const [command, ...args] of wanted) {
  // With named tests, do not run the agent tests.
  if (name !== 'demo' && extra.length > 0 && args.includes('scripts/test-agents.ts')) continue
  const status = run(command, command === 'vitest' || name === 'demo' ? [...args, ...extra] : args)
  if (status !== 0) leave(status)
}
leave(0)

/** npm keeps a copy of the lockfile it installed. If one of our packages is missing there in our version, install again. */
function installed() {
  const mark = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(mark)) return false
  const present = JSON.parse(readFileSync(mark, 'utf8')).packages
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.entries({ ...dependencies, ...devDependencies }).every(
    ([dependency, version]) => present[`node_modules/${dependency}`]?.version === version,
  )
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
    env: { ...process.env, PATH: `${binaries}${delimiter}${process.env.PATH ?? ''}` },
  })
  if (error) console.error(`${command}: ${error.message}`)
  return status ?? 3
}

function leave(status) {
  for (const [command, ...args] of afterwards[name] ?? []) run(command, args)
  process.exit(status)
}
