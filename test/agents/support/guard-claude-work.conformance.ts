import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endsIn, notesIn, refusalsIn } from '../../../src/guard/prove/observations.ts'
import { hooksAreSound, news, textSent, turnsOf } from './guard-seen.ts'
import { type GuardStage, openGuardStage } from './guard-stage.ts'
import { whenInstalled } from './when-installed.ts'

const testFile = `const test = require('node:test')
const assert = require('node:assert')
test('adds', () => assert.equal(require('./sum.js').sum(1, 2), 3))
`
const plan = '# Plan\n\n- [ ] Add two numbers\n'
const agentsMd = '# Checks\n\n- `node --test`\n'

/** Work under the guard in a real Claude Code: from red to VERIFIED, to CAPPED, over a compaction, by subagents, in the background. */
export function describeGuardedWork(id: string): void {
  whenInstalled([id], `guarded work in ${id}`, () => {
    let stage: GuardStage
    beforeAll(async () => {
      stage = await openGuardStage(id, 'claude-code')
    })
    afterAll(() => stage.close())

    test('a task goes from a failing test, a refused claim and a passing run to VERIFIED', async () => {
      const project = await stage.project({
        files: { 'AGENTS.md': agentsMd, 'IMPLEMENTATION_PLAN.md': plan },
      })
      execFileSync('git', ['init', '--quiet'], { cwd: project.root })
      const look = { calls: [{ run: 'cat .harness/state.json' }] }
      const done = await project.play({
        turns: [
          { calls: [{ write: { path: 'sum.test.js', content: testFile } }] },
          { calls: [{ run: 'node --test' }] },
          look,
          { text: 'All done, the tests pass.' },
          { calls: [{ write: { path: 'sum.js', content: 'exports.sum = (a, b) => a + b\n' } }] },
          { calls: [{ run: 'node --test' }] },
          look,
          { calls: [{ read: { path: 'IMPLEMENTATION_PLAN.md' } }] },
          { calls: [{ edit: { path: 'IMPLEMENTATION_PLAN.md', old: '- [ ]', new: '- [x]' } }] },
          { text: 'Now it is done.' },
        ],
      })
      hooksAreSound(project, [done])
      const start = textSent(done, 0)
      for (const part of ['AGENTS.md', 'node --test', 'Add two numbers', 'Harness Rules (enforced by hooks)'])
        expect(start).toContain(part)
      expect(news(done, 3)).toContain('"tdd_phase": "red"')
      const refusal = news(done, 4)
      expect(refusal).toContain('Gantry guard: not done yet (refusal 1 of 2)')
      expect(refusal).toContain('"node --test": failed with exit 1')
      expect(refusal).toContain('1 open task of 1')
      expect(news(done, 7)).toContain('"tdd_phase": "green"')
      expect(done.outcome.finalText).toBe('Now it is done.')

      const entries = project.ledger()
      expect(refusalsIn(entries)).toBe(1)
      expect(endsIn(entries)).toEqual(['VERIFIED'])
      const runs = notesIn(entries).flatMap((note) => (note.kind === 'evidence' ? [note] : []))
      const own = runs.filter(({ by }) => by === 'agent')
      expect(own.map(({ evidence }) => evidence.exitCode)).toEqual([1, 0])
      // The guard looked once whether the test had failed before the session.
      expect(runs.filter(({ by }) => by === 'guard').map(({ evidence }) => evidence.exitCode)).toEqual([0])
      expect(JSON.parse(project.read('.harness/state.json') ?? '')).toMatchObject({
        session_id: done.session,
        phase: 'executing',
        current_task: null,
        tasks_completed: 1,
        tasks_remaining: 0,
        iteration: 1,
        context_injected: true,
        verification_status: { tests_run: true, tests_passed: true, lint_run: false, lint_passed: false },
        discovered_verification_commands: ['node --test'],
        has_test_infra: true,
      })
      // The task is done, and edits are counted per task.
      expect(JSON.parse(project.read('.harness/edit-tracker.json') ?? '')).toEqual({})
      const trace = (project.read('.harness/trace-log.jsonl') ?? '').trim().split('\n')
      expect(trace.map((line) => JSON.parse(line)).map(({ tool, result }) => `${tool} ${result}`)).toEqual([
        'Write success',
        'Bash failure',
        'Bash success',
        'Write success',
        'Bash success',
        'Bash success',
        'Read success',
        'Edit success',
      ])
    })

    test('runs that prove nothing do not count, loops and time are reported, and the task ends as CAPPED', async () => {
      const project = await stage.project({
        files: { 'AGENTS.md': agentsMd, 'sum.test.js': testFile },
        settings: {
          middleware: {
            context_injection: { time_budget_seconds: 0.5 },
            loop_detection: { edit_threshold: 3 },
            pre_completion_checklist: { max_refusals: 2 },
          },
        },
      })
      const write = (value: number) => ({
        calls: [{ write: { path: 'sum.js', content: `exports.sum = () => ${value}\n` } }],
      })
      const fail = { calls: [{ run: 'node --test' }] }
      const capped = await project.play({
        turns: [
          write(1),
          { calls: [{ run: 'node --test || true' }] },
          { calls: [{ run: 'node --test | tail -n 1' }] },
          { text: 'Done: green.' },
          fail,
          fail,
          fail,
          { text: 'Done all the same.' },
          write(2),
          write(4),
          { text: 'Done, believe me.' },
        ],
      })
      hooksAreSound(project, [capped])
      const words = Array.from({ length: turnsOf(capped).length }, (_, turn) => news(capped, turn))
      expect(words[2]).toContain('not counted as verification')
      expect(words[3]).toContain('not counted as verification')
      expect(words[4]).toContain('refusal 1 of 2')
      expect(words[6]).not.toContain('This looks like a loop')
      expect(words[7]).toContain('This looks like a loop')
      expect(words[8]).toContain('refusal 2 of 2')
      expect(words[9]).not.toContain('This looks like a loop')
      expect(words[10]).toMatch(/This looks like a loop: sum\.js \(3 edits\).*[Rr]econsider/s)
      expect(words[0]).toContain('Time Budget')
      expect(words.filter((text) => text.includes('The time budget is used up'))).toHaveLength(1)
      const entries = project.ledger()
      expect([refusalsIn(entries), endsIn(entries)]).toEqual([2, ['CAPPED']])
      const proofs = notesIn(entries).filter(({ kind }) => kind === 'evidence' || kind === 'no_evidence')
      expect(proofs.map(({ kind }) => kind)).toEqual([
        'no_evidence',
        'no_evidence',
        // The guard ran it itself at the first stop, because a pipe had hidden how it ended.
        'no_evidence',
        ...['evidence', 'evidence', 'evidence'],
      ])
      // The person gets a warning; for Claude Code such an end looks like any other.
      expect(capped.transcript).toContain('CAPPED after 2 refusals')
    })

    test('a question is answered without messages, and the session gets its facts again after resuming and compaction', async () => {
      const project = await stage.project({
        files: { 'AGENTS.md': agentsMd, 'IMPLEMENTATION_PLAN.md': plan },
      })
      const asked = await project.play(
        { turns: [{ calls: [{ run: 'cat AGENTS.md' }] }, { text: 'It is tested with node --test.' }] },
        { prompt: 'How is this tested?' },
      )
      expect([refusalsIn(project.ledger()), endsIn(project.ledger())]).toEqual([0, []])
      const config = { resume: asked.session }
      const compacted = await project.play({ turns: [{ text: 'unused' }] }, { prompt: '/compact', config })
      const resumed = await project.play(
        { pick: 'sequence', turns: [{ text: 'Going on.' }] },
        { prompt: 'Go on.', config },
      )
      hooksAreSound(project, [asked, compacted, resumed])
      expect(compacted.calls.map(({ kind }) => kind)).toEqual(['compaction'])
      const text = textSent(resumed, 0)
      expect(text).toContain('Harness State (preserved across compaction)')
      expect(text).toContain('Resumed Session')
      expect(text).toContain('Add two numbers')
      const starts = project
        .ledger()
        .flatMap((entry) =>
          entry.kind === 'event' && entry.event.source !== undefined ? [entry.event.source] : [],
        )
      expect(starts).toEqual(['startup', 'resume', 'compact', 'resume'])
      expect(JSON.parse(project.read('.harness/state.json') ?? '').last_compacted_at).not.toBeNull()
    })

    test('a subagent gets the rules, and they are enforced before those of its caller', async () => {
      const project = await stage.project({ files: check, settings: checked })
      const worked = await project.play({
        turns: [{ calls: [{ subagent: { prompt: 'SUBTASK: write the answer.' } }] }, { text: 'It is done.' }],
        rules: [
          {
            when: { prompt: 'SUBTASK' },
            turns: [
              { calls: [{ write: { path: 'answer.txt', content: '42\n' } }] },
              { text: 'Written.' },
              { calls: [{ run: 'sh check.sh' }] },
              { text: 'Written and checked.' },
            ],
          },
        ],
      })
      hooksAreSound(project, [worked])
      expect(textSent(worked, 1)).toContain('SubagentStart')
      expect(textSent(worked, 1)).toContain('Harness Rules (enforced by hooks)')
      expect(news(worked, 3)).toContain('not done yet (refusal 1 of 2)')
      const stops = project
        .ledger()
        .flatMap((entry) =>
          entry.kind === 'event' && /stop/.test(entry.event.kind) ? [entry.event.kind] : [],
        )
      expect(stops).toEqual(['subagent_stop', 'subagent_stop', 'stop'])
      expect(endsIn(project.ledger())).toEqual(['VERIFIED', 'VERIFIED'])
      expect(news(worked, 5)).toContain('Written and checked.')
    })

    test('the gate waits for background work, and then runs the check itself', async () => {
      const project = await stage.project({ files: check, settings: checked })
      const inBackground = { command: 'sh check.sh', run_in_background: true, description: 'the check' }
      const worked = await project.play({
        turns: [
          { calls: [{ write: { path: 'answer.txt', content: '42\n' } }] },
          { calls: [{ tool: { name: 'Bash', input: inBackground } }] },
          { text: 'The check is under way.' },
          { text: 'It has passed.' },
        ],
      })
      hooksAreSound(project, [worked])
      expect(news(worked, 2)).toContain('not counted as verification')
      expect(news(worked, 3)).toContain('task-notification')
      expect(worked.transcript).toContain('ran `sh check.sh` itself')
      const entries = project.ledger()
      expect([refusalsIn(entries), endsIn(entries)]).toEqual([0, ['VERIFIED']])
    })
  })
}

const check = { 'check.sh': 'sleep 1; grep -q 42 answer.txt\n' }
const checked = { middleware: { pre_completion_checklist: { verification_commands: ['sh check.sh'] } } }
