import { describeAgent } from '../support/agent.conformance.ts'

describeAgent('gemini', {
  id: 'gemini',
  config: { driver: 'gemini' },
  model: 'gemini-2.5-flash',
  startMs: 25_000,
  lacks: { own_cost: 'it tells tokens, never money' },
})
