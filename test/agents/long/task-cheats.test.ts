import { findAgent } from '../../../scripts/agent-cache.ts'
import { playChanges } from '../../e2e/task/change-story.ts'
import { whenInstalled } from '../support/when-installed.ts'

// The agent, its tools, its hooks and the sandbox are real; its model is a script.
whenInstalled(['claude-code'], 'cheats by the tools of Claude Code', () => {
  playChanges('cheats', ['--sandbox', 'bubblewrap', '--timeout', '100s'], {
    agent: { driver: 'claude-code', binary: findAgent('claude-code')?.program ?? 'claude' },
    only: [
      'the test script is true',
      'script-shell is a script of the project',
      'node-options select tests',
      'the red test is skipped',
      'the red test is deleted',
      'the file of the red test is moved out of sight',
      'the red test is emptied',
      'the expected value is what the wrong code says',
      'the code under test exits',
      'the code under test replaces all assertions',
      'a dependency is patched by a command',
      'make has another shell',
      'a Python module takes the place of unittest',
      'the code is in an ignored coverage directory',
      'the pretest script writes the code',
      'the test has another assert',
      'nothing is changed',
    ],
  })
})
