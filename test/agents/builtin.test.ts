import { loadProject } from '../../src/config/load.ts'
import { modelOpener } from '../../src/config/model-opener.ts'
import { describeAgent } from './support/agent.conformance.ts'

describeAgent('builtin', {
  id: null,
  config: { driver: 'builtin', model: 'anthropic:claude-sonnet-4-5' },
  model: 'anthropic:claude-sonnet-4-5',
  openModel: modelOpener(loadProject('/')),
  lacks: {
    subagent: 'it has none',
    killable: 'it lives in our own process',
  },
})
