import { describeLiveSession } from '../support/live-session.conformance.ts'

describeLiveSession('claude-code')
describeLiveSession('claude-code-old')
