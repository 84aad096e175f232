import { describeBuiltInRunner, describePluginExamples } from '../support/plugin-examples.conformance.ts'

describePluginExamples('claude-code')
describePluginExamples('claude-code-old')
describeBuiltInRunner()
