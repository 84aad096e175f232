import { isRoot } from '../io/is-root.ts'
import { bubblewrapEngine } from './bubblewrap/engine.ts'
import { escapeCorpus } from './escape.conformance.ts'

const options = { image: 'debian:12', env: { PATH: process.env.PATH ?? '' } }

escapeCorpus(isRoot() ? 'bubblewrap, started by root' : 'bubblewrap', bubblewrapEngine, options)
escapeCorpus('a program in bubblewrap', bubblewrapEngine, { ...options, isWrapped: true })
escapeCorpus('bubblewrap that waits for its only step', bubblewrapEngine, { ...options, isForOneStep: true })
