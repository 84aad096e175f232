import { describeAgent } from '../support/agent.conformance.ts'

describeAgent('gemini', {
  id: 'gemini',
  config: { driver: 'gemini' },
  model: 'gemini-2.5-flash',
  startMs: 25_000,
  lacks: {
    own_cost: 'it tells tokens, never money',
    subagent_parent: 'it tells that a subagent works, not what it does',
    recovers_from_cut_stream: 'it takes what has arrived for the whole answer',
  },
})
