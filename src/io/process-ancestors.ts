import { readFileSync } from 'node:fs'
import { exec } from './exec.ts'
import { orElse } from './fs-error.ts'
import { environmentOf, hasProcess, listPids, type ProcessEntry, readProcess } from './process-table.ts'

export interface Ancestor {
  readonly pid: number
  /** Its command line, or its name when that cannot be read. */
  readonly argv: readonly string[]
  /** Names of the variables it was started with; empty when they cannot be read. */
  readonly variables: readonly string[]
  /** The session leader: itself, another living process, or a dead one; null when the system does not report it. */
  readonly leader: 'self' | 'alive' | 'gone' | null
}

/** The ancestors of a process, nearest first. null when the system does not report them. */
export async function processAncestors(pid: number): Promise<readonly Ancestor[] | null> {
  return listPids() === null ? fromPs(pid) : fromTable(pid)
}

function fromTable(pid: number): readonly Ancestor[] | null {
  const found: Ancestor[] = []
  let entry = readProcess(readProcess(pid)?.parentPid ?? 0)
  if (readProcess(pid) === null) return null
  while (entry !== null && !found.some((known) => known.pid === entry?.pid)) {
    const variables = variablesIn(environmentOf(entry.pid) ?? '')
    found.push({ pid: entry.pid, argv: argvOf(entry.pid), variables, leader: leaderOf(entry) })
    entry = readProcess(entry.parentPid)
  }
  return found
}

function leaderOf({ pid, sessionId }: ProcessEntry): Ancestor['leader'] {
  if (sessionId === pid) return 'self'
  // 0 is a session outside this table.
  return sessionId === 0 || hasProcess(sessionId) ? 'alive' : 'gone'
}

function argvOf(pid: number): readonly string[] {
  const argv = readQuietly(`/proc/${pid}/cmdline`)
    .split('\0')
    .filter((word) => word !== '')
  // A program may change its own title.
  const title = readQuietly(`/proc/${pid}/comm`).trim()
  return argv.length === 0 ? [title] : [...argv]
}

function variablesIn(environment: string): readonly string[] {
  return environment
    .split('\0')
    .flatMap((entry) => (entry.includes('=') ? [entry.slice(0, entry.indexOf('='))] : []))
}

function readQuietly(path: string): string {
  return orElse('', () => readFileSync(path, 'utf8'))
}

/** Where there is no /proc: the table as `ps` prints it, without variables. */
async function fromPs(pid: number): Promise<readonly Ancestor[] | null> {
  const argv = ['ps', '-A', '-o', 'pid=,ppid=,command='] as const
  const { exitCode, stdout } = await exec({
    argv,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    timeoutMs: 5_000,
  })
  if (exitCode !== 0) return null
  const table = new Map(
    stdout.text.split('\n').flatMap((line) => {
      const match = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line)
      return match === null
        ? []
        : [[Number(match[1]), { parent: Number(match[2]), words: (match[3] ?? '').split(/\s+/) }] as const]
    }),
  )
  const found: Ancestor[] = []
  for (let next = table.get(pid)?.parent ?? 0; next > 0; next = table.get(next)?.parent ?? 0) {
    if (found.some((known) => known.pid === next)) break
    found.push({ pid: next, argv: table.get(next)?.words ?? [], variables: [], leader: null })
  }
  return table.has(pid) ? found : null
}
