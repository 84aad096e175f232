import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sampleRecord } from '../../../test/support/sample-record.ts'
import { unpacked } from '../../../test/support/sample-run.ts'
import { createSummary } from '../../core/create-summary.ts'
import type { TrialRecord } from '../../core/trial.ts'
import type { LiveRun, Store } from '../../store/contract.ts'
import { createRun } from '../../store/create-run.ts'
import { flagRun } from '../../store/flag-run.ts'
import { openStore } from '../../store/open-store.ts'
import { resumeRun } from '../../store/resume-run.ts'
import type { CliContext, CliStream } from '../context.ts'
import { runsCommand } from './index.ts'

let root: string
let store: Store

const passed = sampleRecord('a')
const failed = sampleRecord('b', { attempt: 2, verdict: 'fail', reason: 'no file' })

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-report-'))
  store = openStore({ env: {}, cwd: root, root: join(root, 'store') })
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('gantry runs report', () => {
  test('reports an ended run on the console as when it ended, with its stored summary', async () => {
    const id = await ended([passed, failed])
    const { out, code } = await gantry(['report', 'latest'])
    expect(code).toBe(0)
    expect(out).toContain(`notes: 2 trials, 3 at a time (${id})`)
    expect(out).toContain('✓ note_capture (mine)')
    expect(out).toContain('✗ note_capture (mine) #2')
    expect(out).toContain('Use of the tool')
    expect(out).toContain('✗ FAIL  1 of 2 counted trials failed.')
    expect(out).toContain('Cost       $0.5000')
  })

  test('reports a verification by its commands and its status', async () => {
    const run = createRun(store, { kind: 'verify', title: 'verify notes', argv: [], cwd: root })
    const commands_executed = [
      { name: 'tests', command: 'npm test', exit_code: 0, duration_ms: 1_200 },
      { name: 'lint', command: 'npm run lint', exit_code: 1, duration_ms: 300 },
    ]
    await run.end({ status: 'fail', change: { commands_executed } })
    const { out } = await gantry(['report', run.id])
    expect(out).toContain('✗ FAIL  1 of 2 commands succeeded.')
    expect(out).toMatch(/lint +npm run lint +1 +/)
    expect(out).not.toContain('INCONCLUSIVE')
  })

  test('finds runs by prefix and by blessing, and writes several reports at once', async () => {
    const id = await ended([passed])
    flagRun(store, id, 'blessed', true)
    await ended([failed])
    const argv = ['report', 'blessed', '--reporter', 'html:out/page.html', '--reporter', 'junit:junit.xml']
    expect((await gantry(argv)).out).toBe('Wrote out/page.html\nWrote junit.xml\n')
    expect(readFileSync(join(root, 'out/page.html'), 'utf8')).toContain('<p class="badge">pass</p>')
    expect(readFileSync(join(root, 'junit.xml'), 'utf8')).toContain('tests="1"')
    const { out } = await gantry(['report', id.slice(0, 26), '--reporter', 'md'])
    expect(out).toMatch(/^# ✅ PASS: notes\n/)
  })

  test('--json prints only the document of the JSON reporter', async () => {
    const id = await ended([passed, failed])
    const document = JSON.parse((await gantry(['report', id, '--json'])).out)
    expect(document).toMatchObject({
      schema_version: 1,
      run_id: id,
      interrupted: false,
      summary: { verdict: 'fail', durationMs: 1_234 },
    })
    expect(document.trials.map((trial: TrialRecord) => trial.id)).toEqual(['a', 'b'])
    await expect(gantry(['report', id, '--json', '--reporter', 'md'])).rejects.toThrow('would mix')
  })

  test('summarises a killed run from its finished trials, with its original options', async () => {
    const run = begin(['a', 'b', 'c'], { threshold: 0.5 })
    run.finishTrial(passed)
    run.finishTrial(failed)
    run.release()
    const { out } = await gantry(['report', 'latest'])
    expect(out).toContain('! INTERRUPTED  2 of 3 planned trials finished: 1 passed, 1 failed.')
    expect(out).toMatch(/^✓ note_capture .* 1\/2 /m)
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      `Continue with --resume ${run.id} to run the remaining trials`,
    )
    expect(out).not.toContain('PARTIAL')
    const document = JSON.parse((await gantry(['report', 'latest', '--json'])).out)
    expect(document).toMatchObject({
      interrupted: true,
      summary: { verdict: 'partial', notRun: 1, threshold: 0.5, counts: { pass: 1, fail: 1 } },
    })
    expect(Date.parse(document.ended_at)).toBeGreaterThanOrEqual(Date.parse(document.started_at))
    const tap = (await gantry(['report', 'latest', '--reporter', 'tap'])).out
    expect(tap).toContain('ok 3 - note_capture (mine) \\#3 # SKIP not run: the run was interrupted\n')
  })

  test('ignores an outdated summary of a resumed and killed run', async () => {
    const id = await ended([passed], ['a', 'b'])
    const run = resumeRun(store, id)
    run.finishTrial(failed)
    run.release()
    expect(JSON.parse((await gantry(['report', id, '--json'])).out)).toMatchObject({
      summary: { verdict: 'fail', trials: 2 },
    })
  })

  test('marks a run that is still in progress', async () => {
    const run = begin(['a', 'b'])
    run.finishTrial(passed)
    const { out } = await gantry(['report', run.id])
    expect(out).toContain('PARTIAL  1 planned trial did not run.')
    expect(out).toContain('The run is still in progress')
    expect(out).not.toContain('--resume')
    run.release()
  })

  test('redacts personal data and what the project hides in every part of a report of a stored run', async () => {
    const run = begin(['a'])
    const dir = run.openTrial('a')
    const event = {
      ts: 1,
      event: 'message',
      role: 'assistant',
      text: 'Ask jane.doe@example.org, see /home/jane/x about acme-1',
    }
    writeFileSync(join(dir, 'events.jsonl'), `${JSON.stringify(event)}\n`)
    writeFileSync(join(dir, 'workspace.diff'), '--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-a\n+acme-2\n')
    run.finishTrial({ ...passed, reason: 'because of acme-3', prompt: 'Write to acme-4' })
    run.release()
    // A pattern that is newer than the run.
    writeFileSync(join(root, 'gantry.yaml'), 'redact: ["acme-[0-9]"]\n')
    await gantry(['report', run.id, '--reporter', 'html:page.html'])
    const html = unpacked(readFileSync(join(root, 'page.html'), 'utf8'))
    expect(html).toContain('Ask ')
    expect(html).not.toMatch(/jane|acme/)
  })

  test('a run without a plan is reported as empty', async () => {
    createRun(store, { kind: 'scenario', title: 'early', argv: [], cwd: root }).release()
    expect((await gantry(['report', 'latest'])).out).toContain('INTERRUPTED  0 of 0 planned trials finished.')
  })

  test('a report that cannot be written is an error, and the others are written', async () => {
    await ended([passed])
    writeFileSync(join(root, 'file'), '')
    const argv = ['report', 'latest', '--reporter', 'md:file/x.md', '--reporter', 'tap:out.tap']
    const { out, err, code } = await gantry(argv)
    expect(code).toBe(3)
    expect(err).toContain('The reporter md:file/x.md failed.')
    expect(out).toBe('Wrote out.tap\n')
    expect(existsSync(join(root, 'out.tap'))).toBe(true)
  })

  test('an unknown run, unknown reporter or damaged trial is an error with a hint', async () => {
    await expect(gantry(['report', 'latest'])).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const id = await ended([passed])
    await expect(gantry(['report', id, '--reporter', 'htm'])).rejects.toMatchObject({ code: 'USAGE' })
    rmSync(join(store.runsDir, id, 'trials.jsonl'))
    writeFileSync(join(store.runsDir, id, 'trials/a/result.json'), '{')
    await expect(gantry(['report', id])).rejects.toMatchObject({ code: 'CORRUPT' })
  })
})

function begin(ids: readonly string[], request: object = {}): LiveRun {
  const run = createRun(store, { kind: 'scenario', title: 'notes', argv: [], cwd: root })
  const trials = ids.map((id, index) => ({
    id,
    case: 'note_capture',
    agent: 'mine',
    model: 'default',
    attempt: index + 1,
  }))
  const plan = { request: { cwd: root, concurrency: 3, ...request }, trials }
  run.writePlan(plan)
  return run
}

async function ended(
  records: readonly TrialRecord[],
  ids: readonly string[] = records.map(({ id }) => id),
): Promise<string> {
  const run = begin(ids)
  const fold = createSummary()
  for (const record of records) {
    run.finishTrial(record)
    fold.add(record)
  }
  const summary = fold.finish({ durationMs: 1_234, notRun: ids.length - records.length })
  await run.end({ status: summary.verdict, summary })
  return run.id
}

async function gantry(argv: readonly string[]): Promise<{ out: string; err: string; code: number }> {
  const said = { out: '', err: '', code: 0 }
  const stream = (name: 'out' | 'err'): CliStream => ({
    isTTY: false,
    columns: 80,
    color: false,
    write: (text) => {
      said[name] += text
    },
  })
  const context: CliContext = {
    cwd: root,
    env: { AGENT_ARTIFACT_DIR: store.root },
    stdout: stream('out'),
    stderr: stream('err'),
    signal: new AbortController().signal,
    setExitCode: (code) => {
      said.code = code
    },
  }
  await runsCommand(context).exitOverride().parseAsync(argv, { from: 'user' })
  return said
}
