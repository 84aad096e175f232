import { spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { needs } from '../../test/support/needs.ts'
import { environmentOf, hasProcess, lastPid, listPids, ownStartTicks, readProcess } from './process-table.ts'

const hasTable = listPids() !== null

needs('/proc', hasTable)('a process name that looks like fields is parsed correctly', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'gantry-table-'))
  const program = join(directory, 'a) R 1 (b')
  copyFileSync('/bin/sleep', program)
  const child = spawn(program, ['60'], { detached: true, stdio: 'ignore', env: { MARK: 'here' } })
  const pid = child.pid ?? 0
  try {
    expect(readProcess(pid)).toMatchObject({
      pid,
      parentPid: process.pid,
      groupId: pid,
      sessionId: pid,
      runsProgram: true,
    })
    expect(readProcess(pid)?.startTicks).toBeGreaterThanOrEqual(ownStartTicks())
    expect(environmentOf(pid)).toContain('MARK=here')
    expect(listPids()).toContain(pid)
    expect(lastPid() ?? pid).toBeGreaterThan(0)
  } finally {
    child.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  }
})

test('a missing process is null, not an error', () => {
  expect(readProcess(2 ** 30)).toBeNull()
  expect(environmentOf(2 ** 30)).toBeNull()
  expect(hasProcess(2 ** 30)).toBe(false)
})
