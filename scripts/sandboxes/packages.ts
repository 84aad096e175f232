import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** A Debian package, and a file that shows whether it is installed. */
const packages = {
  'docker.io': '/usr/sbin/dockerd',
  iptables: '/usr/sbin/iptables',
  'busybox-static': '/bin/busybox',
  bubblewrap: '/usr/bin/bwrap',
  git: '/usr/bin/git',
  'python3-minimal': '/usr/bin/python3',
  'python3-pytest': '/usr/bin/pytest',
  'libpython3-stdlib': '/usr/share/doc/libpython3-stdlib',
  make: '/usr/bin/make',
  tcc: '/usr/bin/tcc',
  'libc6-dev': '/usr/include/stdio.h',
  chromium: '/usr/bin/chromium',
  postgresql: '/usr/lib/postgresql',
} as const

/** Installs what is missing. Returns the problem, or null. */
export function installPackages(): string | null {
  const missing = Object.entries(packages).flatMap(([name, file]) => (existsSync(file) ? [] : [name]))
  if (missing.length === 0) return null
  if (!existsSync('/usr/bin/apt-get'))
    return `${missing.join(', ')} cannot be installed: there is no apt-get.`
  console.log(`Installing ${missing.join(', ')} …`)
  const waiting = ['-qq', '-o', 'DPkg::Lock::Timeout=300']
  const quick = ['-o', 'Dpkg::Use-Pty=0', '-o', 'Dpkg::Options::=--force-unsafe-io']
  const install = [...waiting, ...quick, '-y', 'install', '--no-install-recommends', ...missing]
  // The package lists may be good already: update them only when an install fails.
  if (aptGet(install) === null) return null
  const problem = aptGet([...waiting, 'update']) ?? aptGet(install)
  return problem === null ? null : `${missing.join(', ')} cannot be installed: ${problem}`
}

function aptGet(args: readonly string[]): string | null {
  const { status, stdout, stderr, error } = spawnSync('apt-get', args, {
    encoding: 'utf8',
    // A package that starts a service would start a second engine.
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  })
  if (status === 0) return null
  return error?.message ?? `${stdout}\n${stderr}`.trim().split('\n').slice(-3).join(' ')
}
