// For mutation runs: properties draw the same examples each time, so that a mutant is killed or survives alike in every run.
import fc from 'fast-check'

fc.configureGlobal({ seed: 20261201 })
