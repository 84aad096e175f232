import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject, writes } from '../support/project.ts'
import { trialText } from '../support/trial-files.ts'

const check = '#!/bin/sh\ngrep -q milk notes.md\n'
const graded = {
  gates: [{ type: 'script', command: './scripts/check.sh', description: 'milk is noted' }],
  files: { 'fixtures/template/scripts/check.sh': check },
}

describe('an agent that tampers with what grades it', () => {
  test.each<[string, Record<string, unknown>[]]>([
    ['rewrites the script', [writes('scripts/check.sh', '#!/bin/sh\nexit 0\n')]],
    [
      'deletes it and puts a link there',
      [{ run: 'rm scripts/check.sh && ln -s /bin/true scripts/check.sh' }],
    ],
    [
      'swaps its directory',
      [{ run: 'rm -r scripts && mkdir x && cp /bin/true x/check.sh && ln -s x scripts' }],
    ],
    ['makes it a directory', [{ run: 'rm scripts/check.sh && mkdir scripts/check.sh' }]],
  ])('that %s still fails, and is reported', async (_how, turns) => {
    using project = smallProject({ ...graded, turns })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial.verdict).toBe('fail')
    expect(trial.warnings.join()).toContain('scripts/check.sh, which grades it')
    expect(trialText(trial, 'fixture/scripts/check.sh')).toBe(check)
  })

  test('cannot change post scripts and evaluators either', async () => {
    using project = smallProject({
      scenario: {
        scripts: {
          post: [{ command: 'sh scripts/post.sh' }],
          evaluators: [{ name: 'e', command: 'sh ./scripts/eval.sh' }],
        },
      },
      turns: [
        writes('done.txt'),
        writes('scripts/post.sh', 'echo forged > post'),
        writes('scripts/eval.sh', 'echo \'{"score": 1}\''),
      ],
      files: {
        'fixtures/template/scripts/post.sh': 'echo honest > post\n',
        'fixtures/template/scripts/eval.sh': 'echo \'{"score": 0}\'\n',
      },
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trialText(trial, 'fixture/post')).toBe('honest\n')
    expect(trial.evaluators).toMatchObject([{ score: 0 }])
  })
})

describe('what the agent is there to change is never put back', () => {
  test.each<[string, Record<string, unknown>]>([
    [
      'a script gate that looks at it',
      { evaluation: { gates: [{ type: 'script', command: 'grep -q milk notes.md', description: 'd' }] } },
    ],
    [
      'an evaluator that measures it',
      { scripts: { evaluators: [{ name: 'e', command: 'wc -l < notes.md >&2; echo "{}"' }] } },
    ],
    ['a post script that copies it', { scripts: { post: [{ command: 'cp notes.md copy.md' }] } }],
    [
      'a grading script that gets it as an argument',
      {
        evaluation: {
          gates: [{ type: 'script', command: 'sh scripts/has-milk.sh notes.md', description: 'd' }],
        },
      },
    ],
  ])('by %s', async (_how, scenario) => {
    using project = smallProject({
      scenario: {
        evaluation: { gates: [{ type: 'file_contains', path: 'notes.md', substring: 'milk' }] },
        ...scenario,
      },
      turns: [writes('notes.md', 'milk\n')],
      files: {
        'fixtures/template/notes.md': 'empty\n',
        'fixtures/template/scripts/has-milk.sh': 'grep -q milk "$1"\n',
      },
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial).toMatchObject({ verdict: 'pass', warnings: [] })
    expect(trialText(trial, 'fixture/notes.md')).toBe('milk\n')
  })
})

describe('the oracle', () => {
  test('is kept away from the agent', async () => {
    using project = smallProject({
      scenario: { oracle: { command: 'sh ./solve.sh' } },
      turns: [{ run: 'ls > done.txt' }],
      files: { 'fixtures/template/solve.sh': 'touch done.txt\n' },
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trialText(trial, 'fixture/done.txt')).not.toContain('solve.sh')
    expect(existsSync(join(trial.dir, 'fixture/solve.sh'))).toBe(false)
  })

  test('hides nothing the task is about', async () => {
    using project = smallProject({
      scenario: { oracle: { command: 'sed -i s/empty/milk/ notes.md' } },
      turns: [{ run: 'cp notes.md done.txt' }],
      files: { 'fixtures/template/notes.md': 'empty\n' },
    })
    expect(onlyTrial(await gantryTest(project)).verdict).toBe('pass')
  })
})
