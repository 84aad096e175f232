import { createSocket } from 'node:dgram'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** File with one line per name an agent looked up, with the process that asked; null where we have no namespace of our own. */
    lookups: string | null
  }
}

const lookupsVariable = 'GANTRY_TEST_LOOKUPS'

/** In our own network namespace every question for a name comes here. It is written down and answered with "no such name". */
export default async function startNameServer(project: TestProject): Promise<() => void> {
  if (process.env.GANTRY_TEST_NAMESPACE !== '1') {
    project.provide('lookups', null)
    return () => {}
  }
  // The projects of one run share the namespace, and so its one port for names.
  const shared = process.env[lookupsVariable]
  if (shared !== undefined) {
    project.provide('lookups', shared)
    return () => {}
  }
  const directory = mkdtempSync(join(tmpdir(), 'gantry-lookups-'))
  const file = join(directory, 'lookups.txt')
  writeFileSync(file, '')
  const server = createSocket('udp4')
  server.on('message', (question, from) => {
    appendFileSync(file, `${nameIn(question)}, asked by ${askerAt(from.port)}\n`)
    const answer = Buffer.from(question)
    // Answer, recursion available, NXDOMAIN.
    answer.writeUInt16BE(0x8183, 2)
    server.send(answer, from.port, from.address)
  })
  await new Promise<void>((settle, fail) => {
    server.once('error', fail)
    server.bind(53, '127.0.0.1', settle)
  })
  project.provide('lookups', file)
  process.env[lookupsVariable] = file
  return () => {
    delete process.env[lookupsVariable]
    server.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

function nameIn(question: Buffer): string {
  const labels: string[] = []
  for (let at = 12; at < question.length; ) {
    const length = question[at] ?? 0
    if (length === 0) break
    labels.push(question.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return labels.join('.')
}

/** The command line of the process that has this UDP port. It waits for our answer, so it is still there. */
function askerAt(port: number): string {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const sockets = ['udp', 'udp6'].flatMap((table) => readFileSync(`/proc/net/${table}`, 'utf8').split('\n'))
  const inode = sockets
    .map((line) => line.trim().split(/\s+/))
    .find((words) => words[1]?.endsWith(`:${hex}`))?.[9]
  const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && hasSocket(name, `socket:[${inode}]`))
  return pid === undefined
    ? 'an unknown process'
    : readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
}

function hasSocket(pid: string, socket: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === socket)
  } catch {
    // It ended meanwhile.
    return false
  }
}
