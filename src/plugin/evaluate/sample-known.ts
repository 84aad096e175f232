import { knownComponents } from './detection/known-components.ts'
import { samplePlugin } from './sample-trial.ts'

/** The plugins that the corpus of detections speaks of. */
export const sampleKnown = knownComponents(
  samplePlugin('demo', {
    skill: ['greet', 'farewell', 'deploy-app', 'deploy-docs', 'hi'],
    agent: ['reviewer', 'planner'],
    command: ['hi', 'hello', 'deploy/staging'],
    hook: [
      'PreToolUse::Write|Edit',
      'PreToolUse::Bash',
      'PreToolUse::Bash?',
      'Stop::?',
      'UserPromptSubmit::ignored',
      'Stop',
      'SessionStart::startup',
      'SessionEnd',
      'SubagentStop::demo:reviewer',
      'UserPromptExpansion::demo:hello',
    ],
    mcp_server: ['weather', 'my_server', 'a', 'a__b'],
  }),
  [
    samplePlugin('other', {
      skill: ['greet', 'thing'],
      agent: ['reviewer'],
      command: ['hello'],
      hook: ['PreToolUse::Write'],
      mcp_server: ['weather'],
    }),
  ],
)
