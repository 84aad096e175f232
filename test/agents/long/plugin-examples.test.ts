import { describePluginExamples } from '../support/plugin-examples.conformance.ts'

describePluginExamples('claude-code-old')
