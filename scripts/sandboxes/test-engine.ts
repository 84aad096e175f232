import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cacheDirectory } from '../../src/io/host.ts'
import { readProcess } from '../../src/io/process-table.ts'
import { askOverUnixHttp } from '../../src/io/unix-http.ts'
import { roomInMemory } from '../room-in-memory.ts'

/** The images and what containers write: little, but the end of every container waits until a disk has written everything. */
const inMemory = '/dev/shm/gantry-docker'
export const engineDirectory =
  existsSync(inMemory) || roomInMemory() !== null ? inMemory : join(cacheDirectory(), 'docker')
export const ownHost = `unix://${join(engineDirectory, 'docker.sock')}`

const startTimeoutMs = 60_000
const stopTimeoutMs = 30_000

/** Changes nothing of the machine's network: no bridge, no rules, no forwarding. Returns the problem, or null. */
export async function startEngine(): Promise<string | null> {
  if (await answers(ownHost)) return null
  const log = await launchEngine(engineDirectory)
  const until = performance.now() + startTimeoutMs
  while (performance.now() < until) {
    if (await answers(ownHost)) return null
    await sleep(50)
  }
  return `dockerd does not start: ${lastLines(log)}`
}

/** An engine with all its state in one directory; `docker.sock` there is its socket. Returns the path of its log at once. */
export async function launchEngine(directory: string): Promise<string> {
  mkdirSync(join(directory, 'exec'), { recursive: true })
  // A killed engine leaves these files, and a new one would wait for the processes forever.
  for (const file of ['dockerd.pid', 'exec/containerd/containerd.pid'])
    if (!isRunning(join(directory, file))) rmSync(join(directory, file), { force: true })
  const log = join(directory, 'dockerd.log')
  const out = openSync(log, 'a')
  const args = [
    ...['--data-root', join(directory, 'data'), '--exec-root', join(directory, 'exec')],
    ...['--pidfile', join(directory, 'dockerd.pid'), '-H', `unix://${join(directory, 'docker.sock')}`],
    ...['--iptables=false', '--ip6tables=false', '--bridge=none', '--ip-forward=false'],
    '--storage-driver=overlay2',
  ]
  const engine = spawn('dockerd', args, {
    cwd: '/',
    detached: true,
    stdio: ['ignore', out, out],
    env: { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` },
  })
  engine.on('error', () => {})
  engine.unref()
  return log
}

export async function answers(dockerHost: string): Promise<boolean> {
  const answer = await askOverUnixHttp({
    socketPath: dockerHost.replace(/^unix:\/\//, ''),
    method: 'GET',
    path: '/_ping',
    timeoutMs: 2_000,
  })
  return answer.kind === 'answer' && answer.status === 200
}

/** Only the engine that was started here, and only if its pid is still its own. */
export async function stopEngine(directory = engineDirectory): Promise<void> {
  const pid = enginePid(directory)
  if (pid === null) return
  process.kill(pid, 'SIGTERM')
  const until = performance.now() + stopTimeoutMs
  while (performance.now() < until && readProcess(pid)?.runsProgram === true) await sleep(50)
  if (directory !== inMemory) return
  // The engine mounts its data over itself, and what containers left mounted there would keep the directory busy.
  for (const mount of mountsIn(directory)) spawnSync('umount', ['--lazy', mount], { stdio: 'ignore' })
  try {
    rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  } catch (error) {
    console.warn(`${directory} remains: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Innermost first. */
function mountsIn(directory: string): readonly string[] {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((place) => place === directory || place.startsWith(`${directory}/`))
    .reverse()
}

export function enginePid(directory: string): number | null {
  try {
    const pid = Number(readFileSync(join(directory, 'dockerd.pid'), 'utf8'))
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return command.startsWith('dockerd\0') && command.includes(directory) ? pid : null
  } catch {
    return null
  }
}

function isRunning(pidFile: string): boolean {
  return existsSync(pidFile) && readProcess(Number(readFileSync(pidFile, 'utf8')))?.runsProgram === true
}

function lastLines(log: string): string {
  return readFileSync(log, 'utf8').trim().split('\n').slice(-5).join('\n')
}
