import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostileWords, outsideFences } from '../../../../test/support/hostile-words.ts'
import { called, said, scenarioOf, transcriptOf } from '../../../../test/support/plugin-trial.ts'
import { type JudgedTrial, judgePrompt } from './judge-prompt.ts'

const trial: JudgedTrial = {
  pluginName: 'demo',
  scenario: scenarioOf(),
  description: 'Greets people.',
  detections: [
    {
      component_type: 'skill',
      name: 'greet',
      cli_name: 'demo:greet',
      plugin: 'demo',
      confidence: 0.8,
      source: 'transcript',
      evidence: 'it was called',
      timestamp: 1,
    },
  ],
  transcript: transcriptOf([
    said('evt_1', 'user', 'Say hello'),
    called('evt_2', 'Skill', { skill: 'demo:greet' }),
  ]),
}
const options = { withCitations: true, messageChars: 500, sample: 0, samples: 1 }

test('a judge sees plugin, component, type, expectation, what was detected, and the transcript', () => {
  const { prompt } = judgePrompt(trial, options)
  for (const part of [
    'is a skill. The scenario is of type direct.',
    'It should have fired',
    '| plugin: demo',
    '| component: greet',
    '| description: Greets people.',
    '| Say hello to Bob',
    '| skill demo:greet (transcript, confidence 0.8): it was called',
    '| [evt_1] USER: Say hello',
    '| [evt_2] ASSISTANT: calls Skill {"skill":"demo:greet"}',
    '"highlights": [{',
    '"quoted_text"',
  ])
    expect(prompt).toContain(part)
})

test('what should stay quiet is told as such, and nothing that fired as nothing', () => {
  const scenario = scenarioOf({ expected_trigger: false, scenario_type: 'negative' })
  const { prompt } = judgePrompt({ ...trial, scenario, detections: [] }, options)
  expect(prompt).toContain('It should have stayed quiet')
  expect(prompt).toContain('| (none)')
})

test('citations are not asked for when nobody wants them', () => {
  expect(judgePrompt(trial, { ...options, withCitations: false }).prompt).not.toContain('highlights')
})

test('the same question is the same text, and each of several opinions a question of its own', () => {
  const asked = (sample: number, samples: number) =>
    judgePrompt(trial, { ...options, sample, samples }).prompt
  expect(asked(0, 1)).toBe(asked(0, 1))
  expect(new Set([asked(0, 3), asked(1, 3), asked(2, 3)]).size).toBe(3)
  expect(asked(1, 3)).toContain('opinion 2 of 3')
})

test('a message is cut where the configuration says', () => {
  const long = { ...trial, transcript: transcriptOf([said('evt_1', 'user', 'x'.repeat(400))]) }
  expect(judgePrompt(long, { ...options, messageChars: 100 }).prompt).toContain(
    `${'x'.repeat(100)} [300 characters`,
  )
})

test('whatever agent, plugin and user wrote, nothing of it stands outside its fence', () => {
  fc.assert(
    fc.property(hostileWords, hostileWords, hostileWords, (words, name, id) => {
      const attack = (text: string, called: string, message: string) =>
        judgePrompt(
          {
            pluginName: called,
            description: text,
            scenario: scenarioOf({ user_prompt: text, expected_component: called, component_ref: called }),
            detections: trial.detections.map((one) => ({ ...one, cli_name: called, evidence: text })),
            transcript: transcriptOf([said(message, 'assistant', text)]),
          },
          options,
        )
      expect(outsideFences(attack(words, name, id))).toEqual(outsideFences(attack('', '', '')))
    }),
  )
})
