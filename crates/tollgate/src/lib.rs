//! Rate limits and budgets for expensive endpoints: one dependency, features choose the parts
