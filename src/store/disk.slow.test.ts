import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { needs } from '../../test/support/needs.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-disk-'))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

const privateMounts = 'unshare'
const unshareFlags = process.getuid?.() === 0 ? ['-m'] : ['-r', '-m']
/** Without the right to mount only some tests below run. */
const mayMount =
  spawnSync(privateMounts, [...unshareFlags, 'mount', '-t', 'tmpfs', 'none', tmpdir()]).status === 0

const imports = `
  import { createRun } from '${import.meta.dirname}/create-run.ts'
  import { openRun } from '${import.meta.dirname}/open-run.ts'
  import { resumeRun } from '${import.meta.dirname}/resume-run.ts'
  import { openStore } from '${import.meta.dirname}/open-store.ts'
  import { listRuns } from '${import.meta.dirname}/list-runs.ts'
  import { cachePut } from '${import.meta.dirname}/cache.ts'
  import { sampleRecord } from '${import.meta.dirname}/../../test/support/sample-record.ts'
  import { rmSync, writeFileSync } from 'node:fs'
  import { execFileSync } from 'node:child_process'
  const root = process.argv[1]
  const store = openStore({ env: {}, cwd: root, root: root + '/store' })
  const begin = (onWarning) => createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root, onWarning })
  const codeOf = (error) => error.code + ' ' + (error.hint !== undefined)
  const ids = async (run) => { const found = []; for await (const { id } of run.trials()) found.push(id); return found }
  const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n')
`

/** Finishes trials until the disk is full, and prints the outcome. */
const fill = `
  const run = begin()
  const done = []
  let failure = null
  try {
    for (let n = 0; n < 4000; n += 1) {
      run.finishTrial(sampleRecord('t' + n, { reason: 'x'.repeat(3000) }))
      done.push('t' + n)
    }
  } catch (error) { failure = codeOf(error) }
  let cache = null
  try { cachePut(store, 'a'.repeat(64), { record: sampleRecord('big', { reason: 'x'.repeat(4000000) }), runId: run.id }) }
  catch (error) { cache = codeOf(error) }
`

describe('a full disk', () => {
  needs('right to mount', mayMount)(
    'stops a run with NO_SPACE, keeps finished trials, and the run can be resumed when there is space',
    () => {
      const output = inNamespace(
        `mount -t tmpfs -o size=1m none ${root}`,
        `${imports}
      writeFileSync(root + '/ballast', 'x'.repeat(400000))
      ${fill}
      run.release()
      const kept = await ids(openRun(store, run.id))
      const refused = []
      for (const size of [1, 5000, 40]) {
        try { writeFileSync(root + '/rest', 'x'.repeat(1000 * size), { flag: 'a' }) } catch {}
        try { begin(); refused.push('no error') } catch (error) { refused.push(codeOf(error)) }
      }
      const left = (await listRuns(store)).runs.length
      rmSync(root + '/ballast')
      const again = resumeRun(store, run.id)
      const lost = done.filter((id) => !again.finished.has(id))
      again.finishTrial(sampleRecord('after'))
      await again.end({ status: 'partial' })
      const listed = await listRuns(store)
      say({ failure, cache, left, refused: refused.at(-1), some: done.length > 10, kept: kept.length - done.length, lost,
        status: again.manifest().status, after: (await ids(again)).includes('after'), trials: listed.runs[0].totals.trials - done.length })`,
      )
      expect(output).toMatchObject({
        failure: 'NO_SPACE true',
        cache: 'NO_SPACE true',
        // What could not begin is in no list.
        left: 1,
        refused: 'NO_SPACE true',
        some: true,
        lost: [],
        status: 'partial',
        after: true,
      })
      // The last trial may have its result and lack only its line.
      expect([0, 1]).toContain(output.kept)
      expect([1, 2]).toContain(output.trials)
    },
  )

  test('a file size limit has the same effect', () => {
    const output = inShell(
      "trap '' XFSZ; ulimit -f 200",
      `${imports}${fill}
      run.release()
      const kept = new Set(await ids(openRun(store, run.id)))
      say({ failure, cache, some: done.length > 10, lost: done.filter((id) => !kept.has(id)) })`,
    )
    expect(output).toEqual({ failure: 'NO_SPACE true', cache: 'NO_SPACE true', some: true, lost: [] })
  })
})

describe('a disk that cannot be written', () => {
  needs('right to mount', mayMount)(
    'is reported as NOT_WRITABLE, and existing runs can still be read and listed',
    () => {
      const output = inNamespace(
        `mount -t tmpfs -o size=4m none ${root}`,
        `${imports}
      const run = begin()
      run.finishTrial(sampleRecord('a'))
      await run.end({ status: 'pass' })
      execFileSync('mount', ['-o', 'remount,ro', root])
      const codes = []
      const elsewhere = openStore({ env: {}, cwd: root, root: root + '/no/such/store' })
      for (const action of [() => begin(), () => createRun(elsewhere, { kind: 'task', title: 't', argv: [], cwd: root }), () => resumeRun(store, run.id), () => cachePut(store, 'a'.repeat(64), { record: sampleRecord('a'), runId: run.id })]) {
        try { action(); codes.push('no error') } catch (error) { codes.push(codeOf(error)) }
      }
      const { runs } = await listRuns(store)
      say({ codes, listed: runs.map(({ id }) => id === run.id), trials: await ids(openRun(store, run.id)) })`,
      )
      expect(output).toEqual({
        codes: Array(4).fill('NOT_WRITABLE true'),
        listed: [true],
        trials: ['a'],
      })
    },
  )

  test('a file in place of the store is reported as NOT_WRITABLE', () => {
    const output = inShell(
      `: > ${root}/store`,
      `${imports} try { begin() } catch (error) { say({ code: codeOf(error) }) }`,
    )
    expect(output).toEqual({ code: 'NOT_WRITABLE true' })
  })
})

/** Runs a script with private mounts, which are invisible outside and vanish afterwards. */
function inNamespace(prepare: string, script: string): Record<string, unknown> {
  return outcome(
    spawnSync(privateMounts, [...unshareFlags, 'sh', '-c', shellLine(prepare), 'sh', script, root], options),
  )
}

function inShell(prepare: string, script: string): Record<string, unknown> {
  return outcome(spawnSync('sh', ['-c', shellLine(prepare), 'sh', script, root], options))
}

const options = { encoding: 'utf8', timeout: 60_000 } as const

function shellLine(prepare: string): string {
  return `${prepare} && exec "${process.execPath}" --input-type=module -e "$1" "$2"`
}

function outcome({
  stdout,
  stderr,
  status,
}: {
  stdout: string
  stderr: string
  status: number | null
}): Record<string, unknown> {
  if (status !== 0) throw new Error(`exit code ${status}: ${stderr}`)
  return JSON.parse(stdout)
}
