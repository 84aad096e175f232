import { spawn } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { needs } from '../../../test/support/needs.ts'
import { program } from '../../../test/support/program.ts'
import { findAgentAbove } from '../../guard/unlock/prove-person.ts'
import type { Note } from '../../guard-engine/contract.ts'
import { ledgerPlace } from '../../guard-engine/ledger/ledger-place.ts'
import { readLedger } from '../../guard-engine/ledger/read-ledger.ts'
import { findPty, ptyArgv, quoteForSh } from '../../io/pty.ts'

const path = process.env.PATH ?? '/usr/bin:/bin'
const hasPty = await findPty({ PATH: path })
const byPerson = (await findAgentAbove({ env: {}, pid: process.pid })) === null

let home: string
let root: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'gantry-unlock-'))
  root = join(home, 'project')
  mkdirSync(root)
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

needs('terminal free of agents', hasPty && byPerson)(
  'a person at a terminal unlocks by typing the code',
  async () => {
    const { output, code } = await run(ptyArgv(gantry('unlock', ['--for', '5m'])), typesTheCode)
    expect(output).toContain('Unlocked until')
    expect(code).toBe(0)
    expect(notes()).toMatchObject([{ kind: 'unlocked', by: expect.stringContaining('dev on /dev/') }])
  },
)

needs('terminal free of agents', hasPty && byPerson)('a wrong code leaves everything locked', async () => {
  const { output, code } = await run(ptyArgv(gantry('unlock')), () => 'yes\n')
  expect(output).toContain('the code did not match')
  expect(output).toContain('type the code that it shows')
  expect(code).toBe(2)
  expect(notes()).toEqual([])
})

needs('terminal free of agents', hasPty && byPerson)(
  'a waiver asks in the same way and stores its reason',
  async () => {
    const { code } = await run(ptyArgv(gantry('waive', ['--reason', 'no tests yet'])), typesTheCode)
    expect(code).toBe(0)
    expect(notes()).toMatchObject([{ kind: 'waived', why: 'no tests yet', tree: expect.any(String) }])
  },
)

needs('terminal free of agents', hasPty && byPerson)('a seal is made by a person, and kept', async () => {
  const { code } = await run(ptyArgv(gantry('seal')), typesTheCode)
  expect(code).toBe(0)
  const [note] = notes()
  expect(note?.kind === 'sealed' && Object.keys(note.files)).toContain(join(root, '.claude/settings.json'))
})

needs('terminal free of agents', hasPty && byPerson)('one changed file is counted as one', async () => {
  await run(ptyArgv(gantry('seal')), typesTheCode)
  writeFileSync(join(root, 'harness.json'), '{}')
  const { output } = await run(ptyArgv(gantry('seal')), typesTheCode)
  expect(output).toContain('Sealed, 1 changed file accepted.')
})

test('without a terminal nothing is unlocked', async () => {
  const { output, code } = await run(gantry('unlock'), typesTheCode)
  expect(output).toMatch(/there is no terminal|an agent seems/)
  expect(code).toBe(2)
  expect(notes()).toEqual([])
})

needs('script(1) of util-linux', hasPty)('a terminal that an agent made does not help it', async () => {
  const { output, code } = await run(ptyArgv(gantry('unlock')), typesTheCode, { CLAUDECODE: '1' })
  expect(output).toContain('an agent seems to be running it')
  expect(code).toBe(2)
  expect(notes()).toEqual([])
})

needs('script(1) of util-linux', hasPty)(
  'an ancestor agent is found even without its variables',
  async () => {
    const agent = join(home, 'claude')
    copyFileSync('/bin/sh', agent)
    const inner = ptyArgv(gantry('unlock')).map(quoteForSh).join(' ')
    const { output, code } = await run([agent, '-c', `${inner}; exit $?`], typesTheCode)
    expect(output).toContain('started by Claude Code')
    expect(code).toBe(2)
    expect(notes()).toEqual([])
  },
)

needs('script(1) of util-linux', hasPty)('an agent with another name is found by its variables', async () => {
  const inner = ptyArgv(['env', '-u', 'CLAUDECODE', ...gantry('unlock')])
  const { output, code } = await run(
    ['sh', '-c', `${inner.map(quoteForSh).join(' ')}; exit $?`],
    typesTheCode,
    {
      CLAUDECODE: '1',
    },
  )
  expect(output).toContain('has the variable CLAUDECODE')
  expect(code).toBe(2)
  expect(notes()).toEqual([])
})

needs('script(1) of util-linux', hasPty)(
  'a terminal without a parent process does not count as a person',
  async () => {
    const inner = ptyArgv(gantry('unlock')).map(quoteForSh).join(' ')
    // Its parent is gone before it asks; the pipes stay open until it has answered.
    for (const script of [
      `setsid sh -c ${quoteForSh(`(sleep 0.3; ${inner}) & exit 0`)}`,
      `(sleep 0.3; exec setsid ${inner}) & exit 0`,
    ]) {
      const { output } = await run(['sh', '-c', script], typesTheCode)
      expect(output).toContain('whose parent process has ended')
      expect(notes()).toEqual([])
    }
  },
)

test('a lock needs no confirmation', async () => {
  const { code } = await run(gantry('lock'), typesTheCode)
  expect(code).toBe(0)
  expect(notes()).toMatchObject([{ kind: 'unlocked', untilMs: 0 }])
})

function gantry(command: string, flags: readonly string[] = []): readonly [string, ...string[]] {
  return [process.execPath, program, 'guard', command, ...flags]
}

function typesTheCode(output: string): string | null {
  const code = /Type (\S+) to continue/.exec(output)?.[1]
  return code === undefined ? null : `${code}\n`
}

/** Runs it, and types the answer when it is asked. */
function run(
  [file, ...args]: readonly [string, ...string[]],
  answer: (output: string) => string | null,
  variables: Readonly<Record<string, string>> = {},
): Promise<{ readonly output: string; readonly code: number | null }> {
  const env = { PATH: path, HOME: home, USER: 'dev', GANTRY_GUARD_HOME: join(home, 'guard'), ...variables }
  const child = spawn(file, args, { cwd: root, env, stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  let answered = false
  const hear = (chunk: Buffer): void => {
    output += chunk.toString()
    const text = answered || !output.includes('to continue') ? null : answer(output)
    if (text === null) return
    answered = true
    child.stdin.write(text)
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  child.stdin.on('error', () => undefined)
  return new Promise((settle) => child.once('close', (code) => settle({ output, code })))
}

function notes(): readonly Note[] {
  const guardHome = join(home, 'guard')
  if (!readdirSync(home).includes('guard')) return []
  const place = ledgerPlace(guardHome, root, '')
  try {
    readFileSync(place.project)
  } catch {
    return []
  }
  return readLedger(guardHome, place.project).entries.flatMap((entry) =>
    entry.kind === 'note' ? [entry.note] : [],
  )
}
