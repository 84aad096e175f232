import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostileWords, outsideFences } from '../../test/support/hostile-words.ts'
import { type JudgeContext, judgePrompt } from './prompt.ts'
import type { Rubric } from './rubric.ts'

const rubric: Rubric = {
  criteria: [
    { id: 'structure', weight: 0.6, description: 'Notes are short and linked.' },
    { id: 'coverage', weight: 0.4, description: 'Everything is there.' },
  ],
}

const context: JudgeContext = {
  taskPrompt: 'Write a note about gantries.',
  gates: [
    { type: 'file_exists', passed: true, message: 'notes.md is there' },
    { type: 'script', passed: false, message: 'exit 1' },
  ],
  finalMessage: 'All done!',
  transcript: 'ran tool add',
  files: [
    { path: 'notes.md', change: 'created', content: 'a gantry holds a rocket' },
    { path: 'old.md', change: 'deleted', content: null },
  ],
}

test('the judge sees task, criteria with weights, gates, files, transcript and last words', () => {
  const { prompt } = judgePrompt(rubric, context)
  for (const part of [
    'structure (weight 0.6): Notes are short and linked.',
    'coverage (weight 0.4): Everything is there.',
    '| Write a note about gantries.',
    '| passed file_exists: notes.md is there',
    '| FAILED script: exit 1',
    '| created "notes.md"',
    '| deleted "old.md"',
    '| a gantry holds a rocket',
    '| ran tool add',
    '| All done!',
    '"scores": {"structure": <0..1>, "coverage": <0..1>}',
    'JSON only',
  ])
    expect(prompt).toContain(part)
})

test('the same trial gives the same prompt', () => {
  expect(judgePrompt(rubric, context)).toEqual(judgePrompt(rubric, context))
})

test('fields required by the rubric are in the prompt', () => {
  const demanding = {
    ...rubric,
    output: { format: 'json' as const, require_fields: ['reasoning', 'issues'] },
  }
  expect(judgePrompt(demanding, context).prompt).toContain('"reasoning": <required>')
})

test('text of the agent stays inside its fence', () => {
  fc.assert(
    fc.property(hostileWords, hostileWords, hostileWords, (transcript, finalMessage, path) => {
      const prompted = (words: { transcript: string; finalMessage: string; path: string }) =>
        judgePrompt(rubric, {
          ...context,
          transcript: words.transcript,
          finalMessage: words.finalMessage,
          files: [{ path: words.path, change: 'created', content: words.transcript }],
        })
      expect(outsideFences(prompted({ transcript, finalMessage, path }))).toEqual(
        outsideFences(prompted({ transcript: '', finalMessage: '', path: '' })),
      )
    }),
  )
})

test('huge evidence is cut to head and tail with a note', () => {
  const transcript = `START${'x'.repeat(5_000_000)}END`
  const files = Array.from({ length: 1_000 }, (_, index) => ({
    path: `file-${index}.txt`,
    change: 'created' as const,
    content: 'y'.repeat(100_000),
  }))
  const { prompt } = judgePrompt(rubric, {
    ...context,
    transcript,
    files,
    finalMessage: 'z'.repeat(1e6),
    taskPrompt: 't'.repeat(1e6),
  })
  expect(prompt.length).toBeLessThan(150_000)
  expect(prompt).toContain('START')
  expect(prompt).toContain('END')
  expect(prompt).toContain('and 800 more')
  expect(prompt).toMatch(/\[\d+ characters are left out here\]/)
})

test('many taken fence names are handled quickly', () => {
  const taken = Array.from({ length: 3_000 }, (_, index) => `data-${index + 1}-block`).join('')
  judgePrompt(rubric, { ...context, transcript: taken.slice(0, 30_000) })
})

test('an empty trial is shown as such', () => {
  const { prompt } = judgePrompt(rubric, {
    taskPrompt: 'x',
    gates: [],
    finalMessage: null,
    transcript: '',
    files: [],
  })
  expect(prompt).toContain('| (nothing)')
  expect(prompt).toContain('| (empty)')
  expect(prompt.match(/\| \(none\)/g)).toHaveLength(2)
})
