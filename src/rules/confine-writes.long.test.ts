import { expect, test } from 'vitest'
import { decide } from '../guard-engine/decide.ts'
import { readProtectionCorpus } from '../guard-engine/protection-corpus.conformance.ts'
import { off, sceneWith, writeLimitsCorpus } from '../guard-engine/write-limits-corpus.conformance.ts'
import { confineWrites } from './confine-writes.ts'
import { rules } from './index.ts'

const everyCase = [
  ...writeLimitsCorpus,
  ...['file-protection', 'harmless', 'self-tamper'].flatMap(readProtectionCorpus),
]

test('without write limits, all decisions are the same as without the rule', () => {
  const others = rules.filter((rule) => rule !== confineWrites)
  expect(others).toHaveLength(rules.length - 1)
  for (const each of everyCase) {
    const scene = sceneWith({ ...each, boundary: { also: ['/opt'], package: 'src', git: 'read' } }, off)
    expect(decide(rules, scene), each.name).toEqual(decide(others, scene))
  }
})

test('with write limits, nothing passes that was denied before', () => {
  const others = rules.filter((rule) => rule !== confineWrites)
  const denied = everyCase
    .map((each) => sceneWith({ ...each, boundary: { enabled: true } }, off))
    .filter((scene) => decide(others, scene).verdict === 'deny')
  expect(denied.length).toBeGreaterThan(150)
  for (const scene of denied) expect(decide(rules, scene).verdict).toBe('deny')
})
