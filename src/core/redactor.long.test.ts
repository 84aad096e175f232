import { redactsLongTexts } from './long-texts.conformance.ts'

redactsLongTexts(1_000_000)
