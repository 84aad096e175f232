import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

const installed = '/usr/lib/postgresql'

/** The programs of Debian's package; null when it is not installed. */
function postgresPrograms(): string | null {
  const versions = existsSync(installed) ? readdirSync(installed).sort((a, b) => Number(b) - Number(a)) : []
  return (
    versions
      .map((version) => join(installed, version, 'bin'))
      .find((bin) => existsSync(join(bin, 'initdb'))) ?? null
  )
}

export const hasPostgres: boolean =
  process.env.GANTRY_TEST_POSTGRES !== undefined || postgresPrograms() !== null

export interface PostgresServer {
  /** Of an empty database. */
  database(): Promise<string>
  /** The process, to be killed in a test; null for the server that GANTRY_TEST_POSTGRES names. */
  readonly process: () => ChildProcess | null
  /** After a kill. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** A server of its own on a free port, as an ordinary user, or the one that GANTRY_TEST_POSTGRES names. */
export async function startPostgres(): Promise<PostgresServer> {
  const named = process.env.GANTRY_TEST_POSTGRES
  if (named !== undefined)
    return {
      database: () => newDatabase(named),
      process: () => null,
      restart: async () => {},
      stop: async () => {},
    }
  const bin = postgresPrograms()
  if (bin === null) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  const directory = mkdtempSync(join(tmpdir(), 'gantry-pg-'))
  const user = plainUser()
  if (user !== null) chownSync(directory, user.uid, user.gid)
  const data = join(directory, 'data')
  execFileSync(join(bin, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'gantry', '-E', 'UTF8', '--no-sync'], {
    stdio: 'ignore',
    cwd: directory,
    ...user,
  })
  const port = await freePort()
  const url = `postgres://gantry@127.0.0.1:${port}/postgres`
  let child: ChildProcess | null = null
  const start = async (): Promise<void> => {
    child = spawn(
      join(bin, 'postgres'),
      ['-D', data, '-k', directory, '-p', String(port), '-h', '127.0.0.1', '-c', 'fsync=off'],
      { stdio: 'ignore', cwd: directory, ...user },
    )
    await ready(url)
  }
  await start()
  const ended = async (): Promise<void> => {
    if (child !== null && child.exitCode === null && child.signalCode === null)
      await new Promise((done) => child?.once('exit', done))
  }
  return {
    database: () => newDatabase(url),
    process: () => child,
    restart: async () => {
      await ended()
      await start()
    },
    stop: async () => {
      child?.kill('SIGINT')
      await ended()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** PostgreSQL refuses to run as root. */
function plainUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })),
  )
  return { uid: uid ?? 0, gid: gid ?? 0 }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  await new Promise((done) => server.close(done))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function ready(url: string): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return
    } catch {
      await new Promise((done) => setTimeout(done, 100))
    }
  }
}

let databases = 0

async function newDatabase(url: string): Promise<string> {
  databases += 1
  const name = `gantry_test_${process.pid}_${databases}`
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  const own = new URL(url)
  own.pathname = `/${name}`
  return own.href
}
