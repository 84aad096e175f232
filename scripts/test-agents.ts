// Tests with real agents, with the boundary as their only model.
//   node scripts/test-agents.ts main|long [vitest arguments…]
// `npm test` runs `main`, `npm run test:all` runs `long`. Where the machine allows it, everything runs in a network namespace that
// has only loopback, with a name server that records every query and answers none.

import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireAgents } from './install-agents.ts'

const root = join(import.meta.dirname, '..')
const [suite, ...args] = process.argv.slice(2)
if (suite !== 'main' && suite !== 'long') {
  console.error('usage: node scripts/test-agents.ts main|long [vitest arguments…]')
  process.exit(2)
}
requireAgents(suite === 'main' ? ['main'] : ['main', 'long'])

installIp()
const command = ['vitest', 'run', '--project', suite === 'main' ? 'agents' : 'agents-long', ...args]
const way = namespace()
if (way === null) {
  console.warn('No network namespace on this machine: nothing checks that the agents stay on loopback.')
}
const [program = '', ...words] =
  way === null
    ? command
    : [...way, 'sh', '-c', entering(), 'sh', join(root, 'test/agents/resolv.conf'), ...command]
const { status } = spawnSync(program, words, {
  cwd: root,
  stdio: 'inherit',
  // Not in /dev/shm: a sandbox of an agent has a /dev of its own.
  env: { TMPDIR: tmpdir(), ...process.env, ...(way === null ? {} : { GANTRY_TEST_NAMESPACE: '1' }) },
})
process.exit(status ?? 3)

/** Brings loopback up. Our resolv.conf sends every query to our name server, which records it. */
function entering(): string {
  return 'ip link set lo up && mount --bind "$1" /etc/resolv.conf && shift && exec "$@"'
}

/** A bare Debian machine may lack the command that brings loopback up; root can install it. */
function installIp(): void {
  const isThere = spawnSync('sh', ['-c', 'command -v ip'], { stdio: 'ignore' }).status === 0
  const hasApt = spawnSync('sh', ['-c', 'command -v apt-get'], { stdio: 'ignore' }).status === 0
  if (isThere || !hasApt || process.getuid?.() !== 0) return
  console.log('Installing iproute2 for a network namespace of the tests …')
  spawnSync('sh', ['-c', 'apt-get update -qq && apt-get install -y -qq iproute2'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
}

function namespace(): readonly string[] | null {
  const ways = [
    ['unshare', '--net', '--mount'],
    ['unshare', '--map-root-user', '--net', '--mount'],
  ]
  const test = join(root, 'test/agents/resolv.conf')
  return (
    ways.find(
      ([name = '', ...flags]) =>
        spawnSync(name, [...flags, 'sh', '-c', entering(), 'sh', test, 'true'], { stdio: 'ignore' })
          .status === 0,
    ) ?? null
  )
}
