import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { findProgram } from '../../../src/io/find-program.ts'
import { needs } from '../../support/needs.ts'
import { gantry, startGantry } from '../support/gantry.ts'
import type { TestProject } from '../support/project.ts'
import { runDir, runsIn, verifiedProject, verifyJson } from './lab.ts'

const bwrap = needs('bubblewrap', findProgram('bwrap', process.env.PATH ?? '') !== null)

async function until(what: () => boolean): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (what()) return
    await sleep(50)
  }
  throw new Error('it never happened')
}

const hasBegun = (project: TestProject): boolean => {
  const [run] = runsIn(project)
  if (run === undefined) return false
  const log = join(runDir(project, run), 'logs/combined.log')
  return existsSync(log) && readFileSync(log, 'utf8').includes('\nbegun\n')
}

const alive = (seconds: number): number =>
  Number(
    execFileSync('sh', ['-c', `ps -eo args | grep -c "[s]leep ${seconds}" || true`], {
      encoding: 'utf8',
    }).trim(),
  )

const statusOf = (project: TestProject): unknown =>
  JSON.parse(readFileSync(join(runDir(project, runsIn(project)[0] ?? ''), 'manifest.json'), 'utf8')).status

describe('a verification that is interrupted', () => {
  bwrap.each(['SIGINT', 'SIGTERM'] as const)(
    'by %s ends everything, keeps the log, and exits with 130',
    async (signal) => {
      const seconds = signal === 'SIGINT' ? 86_431 : 86_432
      using project = verifiedProject({
        steps: [
          `trap "" TERM INT; echo begun; sleep ${seconds} & setsid sleep ${seconds} & sleep ${seconds}`,
        ],
      })
      const { child, ended } = startGantry(project, ['verify', '--sandbox', 'bubblewrap'])
      await until(() => hasBegun(project))
      child.kill(signal)
      const { code, stderr, stdout } = await ended
      expect({ code, stdout: stdout.includes('PASS') }).toEqual({ code: 130, stdout: false })
      expect(stderr).toContain('cancelled')
      expect(statusOf(project)).toBe('interrupted')
      expect(alive(seconds)).toBe(0)
      expect(sandboxesOf(project)).toEqual([])
    },
  )

  bwrap('by kill -9 leaves no process, and the next run removes what is left', async () => {
    using project = verifiedProject({
      steps: ['grep -q again a.txt || { echo begun; sleep 86433; }'],
    })
    const { child, ended } = startGantry(project, ['verify', '--sandbox', 'bubblewrap'])
    await until(() => hasBegun(project))
    child.kill('SIGKILL')
    await ended
    await until(() => alive(86_433) === 0)
    writeFileSync(project.path('a.txt'), 'again\n')
    expect((await verifyJson(project)).status).toBe('PASS')
    expect(sandboxesOf(project)).toEqual([])
    const { stdout } = await gantry(project, ['runs', 'list', '--json'])
    expect(stdout).toContain('"interrupted"')
  })
})

/** What engines keep on the disk for sandboxes of this home. */
function sandboxesOf({ home }: TestProject): readonly string[] {
  const directory = join(home, '.cache/gantry/sandboxes')
  const names = existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: 'utf8' }) : []
  return names.filter((name) => name.includes('gantry-'))
}
